import type { Operation } from './operation.ts';
import {
  createdPresenterKeySchema,
  presenterKeySchema,
  presenterStateSchema,
} from './presenter.ts';
import { memberRead, producerRead, producerWrite } from './studio-operation.ts';

/** A show for the wall behind its host, and for OBS (SPEC B). */
export const presenterApi = {
  createPresenterKey: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/presenter-key',
    summary: 'A new presenter key, shown this once; the one before opens nothing any more',
    description: 'It opens the presenter view of this show and nothing else.',
    responses: { 201: { description: 'The key', schema: createdPresenterKeySchema } },
    errors: [404, 409],
  },
  readPresenterKey: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/presenter-key',
    summary: 'Whether there is a presenter key, and since when',
    responses: { 200: { description: 'Of the key', schema: presenterKeySchema } },
    errors: [404],
  },
  withdrawPresenterKey: {
    ...producerWrite,
    method: 'DELETE',
    path: '/studio/v1/streams/{stream_id}/presenter-key',
    summary: 'The presenter key opens nothing any more',
    responses: { 204: { description: 'There is none' } },
    errors: [404, 409],
  },
  presentShow: {
    ...memberRead,
    takesPresenterKey: true,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/present',
    summary: 'A show as the wall behind its host has it',
    description:
      'An event stream: a message `state` with a PresenterState at once and every half second. The right answer is in none before the reveal.',
    responses: {
      200: {
        description: 'The show',
        otherTypes: {
          'text/event-stream': presenterStateSchema.meta({
            description: 'Messages `state` have this as `data`',
          }),
        },
      },
    },
    errors: [404],
  },
} as const satisfies Record<string, Operation>;
