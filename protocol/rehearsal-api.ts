import type { Operation } from './operation.ts';
import { newRehearsalSchema, rehearsalSchema } from './rehearsal.ts';
import { memberRead, producerWrite } from './studio-operation.ts';

/** Rehearsals, the part of the producer's API by which a show is tried before anybody watches. */
export const rehearsalApi = {
  createRehearsal: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/rehearsals',
    summary: 'Rehearse the show: a hidden stream with its drafts, and synthetic viewers',
    description:
      'The hidden stream is in no list, is told to no webhook and is not recorded. It takes the place of a rehearsal that is over; beside one that is running it is 409.',
    body: newRehearsalSchema,
    responses: { 201: { description: 'The rehearsal', schema: rehearsalSchema } },
    errors: [404, 409],
  },
  readRehearsal: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/rehearsals/current',
    summary: 'The rehearsal of the show, with what its viewers tell',
    responses: { 200: { description: 'The rehearsal', schema: rehearsalSchema } },
    errors: [404],
  },
  deleteRehearsal: {
    ...producerWrite,
    method: 'DELETE',
    path: '/studio/v1/streams/{stream_id}/rehearsals/current',
    summary: 'End the rehearsal, and remove all that is kept of it',
    responses: { 204: { description: 'Ended' } },
    errors: [404, 409],
  },
} as const satisfies Record<string, Operation>;
