import type { Operation } from './operation.ts';
import { newRehearsalSchema, rehearsalSchema } from './rehearsal.ts';
import { memberRead, producerWrite } from './studio-operation.ts';

/** Rehearsals: trial runs of a show with synthetic viewers. */
export const rehearsalApi = {
  createRehearsal: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/rehearsals',
    summary: 'Start a rehearsal: a hidden stream with copies of the drafts, and synthetic viewers',
    description:
      'The hidden stream is in no list, triggers no webhook and is not recorded. A finished rehearsal is replaced; while a rehearsal is running the request returns 409.',
    body: newRehearsalSchema,
    responses: { 201: { description: 'The rehearsal', schema: rehearsalSchema } },
  },
  readRehearsal: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/rehearsals/current',
    summary: 'Read the rehearsal and the measurements of its viewers',
    responses: { 200: { description: 'The rehearsal', schema: rehearsalSchema } },
  },
  deleteRehearsal: {
    ...producerWrite,
    method: 'DELETE',
    path: '/studio/v1/streams/{stream_id}/rehearsals/current',
    summary: 'End the rehearsal and delete its data',
    responses: { 204: { description: 'Ended' } },
  },
} as const satisfies Record<string, Operation>;
