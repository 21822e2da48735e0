import { z } from 'zod';
import {
  apiTokenSchema,
  createdApiTokenSchema,
  newApiTokenSchema,
  userSchema,
} from './accounts.ts';
import { historyApi } from './history-api.ts';
import { ingestSchema } from './ingest.ts';
import { liveQuerySchema, liveStateSchema } from './live.ts';
import { membersApi } from './members-api.ts';
import { moderationApi } from './moderation-api.ts';
import type { Operation } from './operation.ts';
import { presenterApi } from './presenter-api.ts';
import { productsApi } from './products-api.ts';
import { rehearsalApi } from './rehearsal-api.ts';
import { reportApi } from './report-api.ts';
import { rundownApi } from './rundown-api.ts';
import {
  acceptedEventSchema,
  endStreamSchema,
  exportQuerySchema,
  listOf,
  newQuizSchema,
  newStreamSchema,
  producerEventSchema,
  quizPatchSchema,
  streamPatchSchema,
  studioQuizSchema,
  studioStreamSchema,
  winnersRoundSchema,
} from './studio.ts';
import {
  exportResponses,
  memberRead,
  ownerRead,
  ownerWrite,
  producerRead,
  producerWrite,
} from './studio-operation.ts';
import { webhooksApi } from './webhooks-api.ts';
import { winnerContactsApi } from './winner-contacts-api.ts';

const stream = { 200: { description: 'The stream', schema: studioStreamSchema } };
const ingest = { 200: { description: 'Where to send the video', schema: ingestSchema } };
const quiz = { 200: { description: 'The quiz', schema: studioQuizSchema } };

/** The studio API under `/studio/v1`. */
export const studioApi = {
  ...membersApi,
  ...webhooksApi,
  ...rundownApi,
  ...historyApi,
  ...moderationApi,
  ...reportApi,
  ...rehearsalApi,
  ...presenterApi,
  ...productsApi,
  ...winnerContactsApi,
  readAccount: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/account',
    summary: 'Read the account of the service token or of the member',
    responses: { 200: { description: 'The account', schema: userSchema } },
    errors: [],
  },
  createApiToken: {
    ...ownerWrite,
    method: 'POST',
    path: '/studio/v1/api-tokens',
    summary: 'Create a service token, which is shown once',
    body: newApiTokenSchema,
    responses: { 201: { description: 'The token', schema: createdApiTokenSchema } },
    errors: [409],
  },
  listApiTokens: {
    ...ownerRead,
    method: 'GET',
    path: '/studio/v1/api-tokens',
    summary: "List the account's service tokens, newest first",
    responses: { 200: { description: 'The tokens', schema: listOf(apiTokenSchema) } },
  },
  revokeApiToken: {
    ...ownerWrite,
    method: 'DELETE',
    path: '/studio/v1/api-tokens/{token_id}',
    summary: 'Revoke a service token',
    responses: { 204: { description: 'Revoked' } },
  },
  createStream: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams',
    summary: 'Create a stream',
    body: newStreamSchema,
    responses: { 201: { description: 'The stream', schema: studioStreamSchema } },
    errors: [409],
  },
  listOwnStreams: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams',
    summary: "List the account's streams, newest first",
    responses: { 200: { description: 'The streams', schema: listOf(studioStreamSchema) } },
    errors: [],
  },
  readOwnStream: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}',
    summary: 'Read a stream',
    responses: stream,
  },
  patchStream: {
    ...producerWrite,
    method: 'PATCH',
    path: '/studio/v1/streams/{stream_id}',
    summary: 'Change a stream',
    body: streamPatchSchema,
    responses: stream,
  },
  startStream: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/start',
    summary: 'Start a stream: its status becomes STREAMING',
    responses: stream,
  },
  endStream: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/end',
    summary: 'End a stream now or at a given time: its status becomes ENDED',
    body: endStreamSchema,
    bodyOptional: true,
    responses: stream,
  },
  reopenStream: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/reopen',
    summary: 'Take back the end of a stream within 10 minutes: it goes on as before',
    description: 'Its report is removed, and made again after its next end.',
    responses: stream,
  },
  readIngest: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/ingest',
    summary: 'Read the ingest URLs, the stream key and the connected source',
    description: 'The first call creates the stream key.',
    responses: ingest,
  },
  rotateStreamKey: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/ingest/rotate-key',
    summary: 'Replace the stream key; the old key is rejected from now on',
    description: 'A source that is already connected stays connected.',
    responses: ingest,
  },
  createQuiz: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/quizzes',
    summary: 'Create a quiz as a draft',
    body: newQuizSchema,
    responses: { 201: { description: 'The draft', schema: studioQuizSchema } },
  },
  readQuiz: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/quizzes/{quiz_id}',
    summary: 'Read a quiz',
    responses: quiz,
  },
  patchQuiz: {
    ...producerWrite,
    method: 'PATCH',
    path: '/studio/v1/quizzes/{quiz_id}',
    summary: 'Change a draft',
    body: quizPatchSchema,
    responses: quiz,
  },
  deleteQuiz: {
    ...producerWrite,
    method: 'DELETE',
    path: '/studio/v1/quizzes/{quiz_id}',
    summary: 'Delete a draft',
    responses: { 204: { description: 'Deleted' } },
  },
  publishQuiz: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/quizzes/{quiz_id}/publish',
    summary: 'Publish a draft, so that viewers can answer until it closes',
    responses: quiz,
  },
  revealQuiz: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/quizzes/{quiz_id}/reveal',
    summary: 'Publish the results of a closed quiz',
    responses: quiz,
  },
  requestWinners: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/request-winners',
    summary: 'Request the winners of this game; their count is published a second later',
    responses: { 201: { description: 'The round', schema: winnersRoundSchema } },
  },
  listWinnersRounds: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/winners-rounds',
    summary: "List the stream's winners rounds, in the order they were requested",
    responses: { 200: { description: 'The rounds', schema: listOf(winnersRoundSchema) } },
  },
  watchShow: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/live',
    summary: 'Follow a live show',
    description:
      'An event stream that sends a `state` message with a LiveState every half second and each interval as viewers receive it, with the interval as `id`. Resume with `Last-Event-ID`.',
    query: liveQuerySchema,
    headers: z.object({
      'Last-Event-ID': z.string().describe('The last received interval').optional(),
    }),
    responses: {
      200: {
        description: 'The event stream',
        otherTypes: {
          'text/event-stream': liveStateSchema.describe(
            'The `data` of `state` messages; other messages have an EventsInterval',
          ),
        },
      },
    },
  },
  sendEvent: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/events',
    summary: 'Send a purchase, a discount or a custom event',
    body: producerEventSchema,
    responses: { 201: { description: 'Recorded', schema: acceptedEventSchema } },
  },
  exportAnswers: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/answers',
    summary: 'Export all recorded answers',
    query: exportQuerySchema,
    responses: exportResponses(
      '`quizId`, `viewer`, `seat`, `choice`, `correct`, `at` (Unix ms), `question` and `time` (ISO 8601)',
    ),
  },
  exportWinners: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/winners',
    summary: 'Export all recorded winners',
    query: exportQuerySchema,
    responses: exportResponses('`roundId`, `viewer`, `seat`, `at` (Unix ms) and `time` (ISO 8601)'),
  },
  exportContacts: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/contacts',
    summary: 'Export the contact details of winners',
    query: exportQuerySchema,
    responses: exportResponses(
      '`roundId`, `viewer`, `code`, `name`, `contact`, `at` (Unix ms) and `time` (ISO 8601)',
    ),
  },
  exportFeed: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/feed',
    summary: 'Export all intervals with events',
    description:
      'NDJSON has one interval per line, byte for byte as viewers received it. CSV has one event per row, with `interval`, `type` and `data` as JSON.',
    query: exportQuerySchema,
    responses: exportResponses('intervals or events'),
  },
} as const satisfies Record<string, Operation>;
