import { z } from 'zod';
import {
  apiTokenSchema,
  createdApiTokenSchema,
  newApiTokenSchema,
  userSchema,
} from './accounts.ts';
import { ingestSchema } from './ingest.ts';
import { BODY_BYTES } from './limits.ts';
import type { Operation } from './operation.ts';
import {
  acceptedEventSchema,
  endStreamSchema,
  exportQuerySchema,
  idempotencyKeySchema,
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

const studio = { role: 'studio', access: 'service', bodyBytes: BODY_BYTES } as const;
const write = {
  ...studio,
  headers: z.object({ 'Idempotency-Key': idempotencyKeySchema.optional() }),
} as const;
const stream = { 200: { description: 'The stream', schema: studioStreamSchema } };
const ingest = { 200: { description: 'Where to send the video', schema: ingestSchema } };
const quiz = { 200: { description: 'The quiz', schema: studioQuizSchema } };
const rows = (columns: string) => ({
  200: {
    description: `Rows with ${columns}, streamed as they were when the export began`,
    otherTypes: {
      'application/x-ndjson': z.string().meta({ description: 'One JSON object a line' }),
      'text/csv': z
        .string()
        .meta({ description: 'A header row, then one record a row (RFC 4180)' }),
    },
    headers: {
      'Content-Disposition': z.string().meta({ description: 'Names the file to save it as' }),
    },
  },
});

/** The producer's API under `/studio/v1`: everything that makes a show. */
export const studioApi = {
  readAccount: {
    ...studio,
    method: 'GET',
    path: '/studio/v1/account',
    summary: 'The account of the service token',
    answers: { 200: { description: 'The account', schema: userSchema } },
  },
  createApiToken: {
    ...write,
    method: 'POST',
    path: '/studio/v1/api-tokens',
    summary: 'A new service token; its secret is shown this once',
    body: newApiTokenSchema,
    answers: { 201: { description: 'The token', schema: createdApiTokenSchema } },
    errors: [409],
  },
  listApiTokens: {
    ...studio,
    method: 'GET',
    path: '/studio/v1/api-tokens',
    summary: "The account's service tokens, newest first",
    answers: { 200: { description: 'The tokens', schema: listOf(apiTokenSchema) } },
  },
  revokeApiToken: {
    ...write,
    method: 'DELETE',
    path: '/studio/v1/api-tokens/{token_id}',
    summary: 'Revoke a service token',
    answers: { 204: { description: 'Revoked' } },
    errors: [404, 409],
  },
  createStream: {
    ...write,
    method: 'POST',
    path: '/studio/v1/streams',
    summary: 'A new stream',
    body: newStreamSchema,
    answers: { 201: { description: 'The stream', schema: studioStreamSchema } },
    errors: [409],
  },
  listOwnStreams: {
    ...studio,
    method: 'GET',
    path: '/studio/v1/streams',
    summary: "The account's streams, newest first",
    answers: { 200: { description: 'The streams', schema: listOf(studioStreamSchema) } },
  },
  readOwnStream: {
    ...studio,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}',
    summary: 'One stream',
    answers: stream,
    errors: [404],
  },
  patchStream: {
    ...write,
    method: 'PATCH',
    path: '/studio/v1/streams/{stream_id}',
    summary: 'Change a stream',
    body: streamPatchSchema,
    answers: stream,
    errors: [404, 409],
  },
  startStream: {
    ...write,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/start',
    summary: 'Start the stream: STREAMING',
    answers: stream,
    errors: [404, 409],
  },
  endStream: {
    ...write,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/end',
    summary: 'End the stream, now or later: ENDED',
    body: endStreamSchema,
    bodyOptional: true,
    answers: stream,
    errors: [404, 409],
  },
  readIngest: {
    ...studio,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/ingest',
    summary: "Where to send the stream's video, with its key, and the source that is there",
    description: 'The first call makes the key.',
    answers: ingest,
    errors: [404],
  },
  rotateStreamKey: {
    ...write,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/ingest/rotate-key',
    summary: 'A new stream key; the old one is refused from now on',
    description: 'A source that came with the old key goes on.',
    answers: ingest,
    errors: [404, 409],
  },
  createQuiz: {
    ...write,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/quizzes',
    summary: 'A new quiz, as a draft',
    body: newQuizSchema,
    answers: { 201: { description: 'The draft', schema: studioQuizSchema } },
    errors: [404, 409],
  },
  listQuizzes: {
    ...studio,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/quizzes',
    summary: "The stream's quizzes, in the order they were made",
    answers: { 200: { description: 'The quizzes', schema: listOf(studioQuizSchema) } },
    errors: [404],
  },
  readQuiz: {
    ...studio,
    method: 'GET',
    path: '/studio/v1/quizzes/{quiz_id}',
    summary: 'One quiz',
    answers: quiz,
    errors: [404],
  },
  patchQuiz: {
    ...write,
    method: 'PATCH',
    path: '/studio/v1/quizzes/{quiz_id}',
    summary: 'Change a draft',
    body: quizPatchSchema,
    answers: quiz,
    errors: [404, 409],
  },
  deleteQuiz: {
    ...write,
    method: 'DELETE',
    path: '/studio/v1/quizzes/{quiz_id}',
    summary: 'Delete a draft',
    answers: { 204: { description: 'Deleted' } },
    errors: [404, 409],
  },
  publishQuiz: {
    ...write,
    method: 'POST',
    path: '/studio/v1/quizzes/{quiz_id}/publish',
    summary: 'Publish a draft: viewers can answer until it closes',
    answers: quiz,
    errors: [404, 409],
  },
  revealQuiz: {
    ...write,
    method: 'POST',
    path: '/studio/v1/quizzes/{quiz_id}/reveal',
    summary: 'Publish the results of a closed quiz',
    answers: quiz,
    errors: [404, 409],
  },
  requestWinners: {
    ...write,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/request-winners',
    summary: 'Ask the winners of this game to report; the count is published a second later',
    answers: { 201: { description: 'The round', schema: winnersRoundSchema } },
    errors: [404, 409],
  },
  listWinnersRounds: {
    ...studio,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/winners-rounds',
    summary: "The stream's winners rounds, in the order they were asked for",
    answers: { 200: { description: 'The rounds', schema: listOf(winnersRoundSchema) } },
    errors: [404],
  },
  sendEvent: {
    ...write,
    method: 'POST',
    path: '/studio/v1/streams/{stream_id}/events',
    summary: 'Send a purchase, a discount or an event of your own',
    body: producerEventSchema,
    answers: { 201: { description: 'Recorded', schema: acceptedEventSchema } },
    errors: [404, 409],
  },
  exportAnswers: {
    ...studio,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/answers',
    summary: 'Every recorded answer',
    query: exportQuerySchema,
    answers: rows('`quizId`, `viewer`, `seat`, `choice`, `correct` and `at` (Unix ms)'),
    errors: [404],
  },
  exportWinners: {
    ...studio,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/winners',
    summary: 'Every recorded winner',
    query: exportQuerySchema,
    answers: rows('`roundId`, `viewer`, `seat` and `at` (Unix ms)'),
    errors: [404],
  },
  exportFeed: {
    ...studio,
    method: 'GET',
    path: '/studio/v1/streams/{stream_id}/exports/feed',
    summary: 'Every interval in which something happened',
    description:
      'As NDJSON an interval a line, byte for byte as viewers got it; as CSV an event a row, with `interval`, `type` and `data` in JSON.',
    query: exportQuerySchema,
    answers: rows('intervals or events'),
    errors: [404],
  },
} as const satisfies Record<string, Operation>;
