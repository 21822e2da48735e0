import type { Operation } from './operation.ts';
import {
  createdPresenterKeySchema,
  presenterKeySchema,
  presenterStateSchema,
} from './presenter.ts';
import { memberRead, producerRead, producerWrite } from './studio-operation.ts';

/** The presenter display of a show, for a screen on stage or for OBS (SPEC B). */
export const presenterApi = {
  createPresenterKey: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/presenter-key',
    summary: 'Create a presenter key, which is shown once and replaces the previous one',
    description: 'The key gives access only to the presenter display of this show.',
    responses: { 201: { description: 'The key', schema: createdPresenterKeySchema } },
  },
  readPresenterKey: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/presenter-key',
    summary: 'Read whether there is a presenter key and when it was created',
    responses: { 200: { description: 'When the key was created', schema: presenterKeySchema } },
  },
  withdrawPresenterKey: {
    ...producerWrite,
    method: 'DELETE',
    path: '/studio/v1/streams/{stream_id}/presenter-key',
    summary: 'Withdraw the presenter key',
    responses: { 204: { description: 'Withdrawn' } },
  },
  presentShow: {
    ...memberRead,
    takesPresenterKey: true,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/present',
    summary: 'Follow the state of a show for the presenter display',
    description:
      'An event stream that sends a `state` message with a PresenterState at once and every half second. No message contains the correct answer before the reveal.',
    responses: {
      200: {
        description: 'The event stream',
        otherTypes: {
          'text/event-stream': presenterStateSchema.describe('The `data` of `state` messages'),
        },
      },
    },
  },
} as const satisfies Record<string, Operation>;
