import {
  audienceQuerySchema,
  chatLogQuerySchema,
  chatLogSchema,
  HISTORY_INTERVALS,
  intervalCountSchema,
  sentLogQuerySchema,
  sentLogSchema,
} from './history.ts';
import type { Operation } from './operation.ts';
import { listOf } from './studio.ts';
import { memberRead } from './studio-operation.ts';

const PAGES =
  'A page ends with the interval that fills it, or after ten minutes of the show or 4 MB of its feed, so that it may be empty while `next` says that there is more.';

/** What viewers were sent in a show so far (SPEC B). */
export const historyApi = {
  readSentLog: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/log',
    summary: 'What viewers were sent, newest first: every event but view-count and chats',
    description: PAGES,
    query: sentLogQuerySchema,
    responses: { 200: { description: 'A page of events', schema: sentLogSchema } },
    errors: [404],
  },
  readAudience: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/audience',
    summary: 'How many viewers there were, as they were told, in the order of time',
    description: `At most ${HISTORY_INTERVALS} intervals a call.`,
    query: audienceQuerySchema,
    responses: { 200: { description: 'The counts', schema: listOf(intervalCountSchema) } },
    errors: [404],
  },
  readChatLog: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/chat',
    summary: 'Lines of the chat as viewers were sent them, newest first',
    description: PAGES,
    query: chatLogQuerySchema,
    responses: { 200: { description: 'A page of lines', schema: chatLogSchema } },
    errors: [404],
  },
} as const satisfies Record<string, Operation>;
