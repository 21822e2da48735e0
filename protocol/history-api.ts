import {
  audienceQuerySchema,
  chatLogQuerySchema,
  chatLogSchema,
  intervalCountSchema,
  sentLogQuerySchema,
  sentLogSchema,
} from './history.ts';
import { HISTORY_INTERVALS } from './limits.ts';
import type { Operation } from './operation.ts';
import { listOf } from './studio.ts';
import { memberRead } from './studio-operation.ts';

const PAGES =
  'A page covers at most ten minutes of the show and 4 MB of its feed. It may therefore be empty although `next` is not null.';

/** The history of a show as viewers received it (SPEC B). */
export const historyApi = {
  readSentLog: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/log',
    summary: 'List the events sent to viewers, newest first, without view-count and chats',
    description: PAGES,
    query: sentLogQuerySchema,
    responses: { 200: { description: 'A page of events', schema: sentLogSchema } },
  },
  readAudience: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/audience',
    summary: 'List the published viewer counts, oldest first',
    description: `At most ${HISTORY_INTERVALS} intervals per call.`,
    query: audienceQuerySchema,
    responses: { 200: { description: 'The viewer counts', schema: listOf(intervalCountSchema) } },
  },
  readChatLog: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/chat',
    summary: 'List the chat messages sent to viewers, newest first',
    description: PAGES,
    query: chatLogQuerySchema,
    responses: { 200: { description: 'A page of messages', schema: chatLogSchema } },
  },
} as const satisfies Record<string, Operation>;
