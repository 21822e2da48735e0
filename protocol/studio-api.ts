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

const stream = { 200: { description: 'The stream', schema: studioStreamSchema } };
const ingest = { 200: { description: 'Where to send the video', schema: ingestSchema } };
const quiz = { 200: { description: 'The quiz', schema: studioQuizSchema } };
/** The producer's API under `/studio/v1`: everything that makes a show. */
export const studioApi = {
  ...membersApi,
  ...webhooksApi,
  ...rundownApi,
  ...historyApi,
  ...moderationApi,
  ...reportApi,
  ...rehearsalApi,
  ...presenterApi,
  readAccount: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/account',
    summary: 'The account of the service token or of the member',
    responses: { 200: { description: 'The account', schema: userSchema } },
  },
  createApiToken: {
    ...ownerWrite,
    method: 'POST',
    path: '/studio/v1/api-tokens',
    summary: 'A new service token; its secret is shown this once',
    body: newApiTokenSchema,
    responses: { 201: { description: 'The token', schema: createdApiTokenSchema } },
    errors: [409],
  },
  listApiTokens: {
    ...ownerRead,
    method: 'GET',
    path: '/studio/v1/api-tokens',
    summary: "The account's service tokens, newest first",
    responses: { 200: { description: 'The tokens', schema: listOf(apiTokenSchema) } },
  },
  revokeApiToken: {
    ...ownerWrite,
    method: 'DELETE',
    path: '/studio/v1/api-tokens/{token_id}',
    summary: 'Revoke a service token',
    responses: { 204: { description: 'Revoked' } },
    errors: [404, 409],
  },
  createStream: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams',
    summary: 'A new stream',
    body: newStreamSchema,
    responses: { 201: { description: 'The stream', schema: studioStreamSchema } },
    errors: [409],
  },
  listOwnStreams: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams',
    summary: "The account's streams, newest first",
    responses: { 200: { description: 'The streams', schema: listOf(studioStreamSchema) } },
  },
  readOwnStream: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}',
    summary: 'One stream',
    responses: stream,
    errors: [404],
  },
  patchStream: {
    ...producerWrite,
    method: 'PATCH',
    path: '/studio/v1/streams/{stream_id}',
    summary: 'Change a stream',
    body: streamPatchSchema,
    responses: stream,
    errors: [404, 409],
  },
  startStream: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/start',
    summary: 'Start the stream: STREAMING',
    responses: stream,
    errors: [404, 409],
  },
  endStream: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/end',
    summary: 'End the stream, now or later: ENDED',
    body: endStreamSchema,
    bodyOptional: true,
    responses: stream,
    errors: [404, 409],
  },
  readIngest: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/ingest',
    summary: "Where to send the stream's video, with its key, and the source that is there",
    description: 'The first call makes the key.',
    responses: ingest,
    errors: [404],
  },
  rotateStreamKey: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/ingest/rotate-key',
    summary: 'A new stream key; the old one is refused from now on',
    description: 'A source that came with the old key goes on.',
    responses: ingest,
    errors: [404, 409],
  },
  createQuiz: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/quizzes',
    summary: 'A new quiz, as a draft',
    body: newQuizSchema,
    responses: { 201: { description: 'The draft', schema: studioQuizSchema } },
    errors: [404, 409],
  },
  readQuiz: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/quizzes/{quiz_id}',
    summary: 'One quiz',
    responses: quiz,
    errors: [404],
  },
  patchQuiz: {
    ...producerWrite,
    method: 'PATCH',
    path: '/studio/v1/quizzes/{quiz_id}',
    summary: 'Change a draft',
    body: quizPatchSchema,
    responses: quiz,
    errors: [404, 409],
  },
  deleteQuiz: {
    ...producerWrite,
    method: 'DELETE',
    path: '/studio/v1/quizzes/{quiz_id}',
    summary: 'Delete a draft',
    responses: { 204: { description: 'Deleted' } },
    errors: [404, 409],
  },
  publishQuiz: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/quizzes/{quiz_id}/publish',
    summary: 'Publish a draft: viewers can answer until it closes',
    responses: quiz,
    errors: [404, 409],
  },
  revealQuiz: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/quizzes/{quiz_id}/reveal',
    summary: 'Publish the results of a closed quiz',
    responses: quiz,
    errors: [404, 409],
  },
  requestWinners: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/request-winners',
    summary: 'Ask the winners of this game to report; the count is published a second later',
    responses: { 201: { description: 'The round', schema: winnersRoundSchema } },
    errors: [404, 409],
  },
  listWinnersRounds: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/winners-rounds',
    summary: "The stream's winners rounds, in the order they were asked for",
    responses: { 200: { description: 'The rounds', schema: listOf(winnersRoundSchema) } },
    errors: [404],
  },
  watchShow: {
    ...memberRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/live',
    summary: 'A show as it goes, for those who run it',
    description:
      'An event stream. Every half second a message `state` with a LiveState, which is the sign of life, too; and each interval as viewers get it, with the interval as `id`. `Last-Event-ID` resumes.',
    query: liveQuerySchema,
    headers: z.object({
      'Last-Event-ID': z
        .string()
        .meta({ description: 'The last interval that was received' })
        .optional(),
    }),
    responses: {
      200: {
        description: 'The show',
        otherTypes: {
          'text/event-stream': liveStateSchema.meta({
            description: 'Messages `state` have this as `data`, the others an EventsInterval',
          }),
        },
      },
    },
    errors: [404],
  },
  sendEvent: {
    ...producerWrite,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/events',
    summary: 'Send a purchase, a discount or an event of your own',
    body: producerEventSchema,
    responses: { 201: { description: 'Recorded', schema: acceptedEventSchema } },
    errors: [404, 409],
  },
  exportAnswers: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/answers',
    summary: 'Every recorded answer',
    query: exportQuerySchema,
    responses: exportResponses(
      '`quizId`, `viewer`, `seat`, `choice`, `correct` and `at` (Unix ms)',
    ),
    errors: [404],
  },
  exportWinners: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/winners',
    summary: 'Every recorded winner',
    query: exportQuerySchema,
    responses: exportResponses('`roundId`, `viewer`, `seat` and `at` (Unix ms)'),
    errors: [404],
  },
  exportFeed: {
    ...producerRead,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/feed',
    summary: 'Every interval in which something happened',
    description:
      'As NDJSON an interval a line, byte for byte as viewers got it; as CSV an event a row, with `interval`, `type` and `data` in JSON.',
    query: exportQuerySchema,
    responses: exportResponses('intervals or events'),
    errors: [404],
  },
} as const satisfies Record<string, Operation>;
