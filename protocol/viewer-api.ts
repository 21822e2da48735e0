import { z } from 'zod';
import { userSchema } from './accounts.ts';
import { chatPostSchema, eventsIntervalSchema } from './feed.ts';
import { BODY_BYTES, VIEWER_BODY_BYTES } from './limits.ts';
import type { Operation } from './operation.ts';
import { answerSchema } from './quizzes.ts';
import { streamDetailSchema, streamListQuerySchema, streamPageSchema } from './streams.ts';
import { timeQuerySchema, timeSchema } from './time.ts';
import { jwksSchema, tokenRequestSchema, viewerTokenSchema } from './tokens.ts';
import { viewCountSchema } from './view-counts.ts';

const viewer = { access: 'viewer', bodyBytes: VIEWER_BODY_BYTES } as const;
const plain = { bodyBytes: BODY_BYTES } as const;

const intervalCacheControl = z
  .enum([
    'private, max-age=31536000, immutable',
    'public, max-age=31536000, s-maxage=31536000, immutable',
    'no-store',
  ])
  .meta({
    description:
      'A sealed interval never changes: `private`, or `public` when the service runs behind an edge that checks tokens; `no-store` for an event stream',
  });

/** The given interface: every operation under `/api/v1`, and the public keys. */
export const viewerApi = {
  readTime: {
    ...plain,
    method: 'GET',
    path: '/api/v1/time',
    role: 'always',
    access: 'public',
    summary: "The service's clock",
    description:
      'With `Accept: text/plain`, or `format=iso` as players of DASH ask, ISO 8601 in UTC with milliseconds.',
    query: timeQuerySchema,
    responses: {
      200: {
        description: 'Now',
        schema: timeSchema,
        otherTypes: { 'text/plain': z.iso.datetime({ precision: 3 }) },
      },
    },
  },
  readMe: {
    ...plain,
    method: 'GET',
    path: '/api/v1/users/me',
    role: 'api',
    access: 'service',
    summary: 'The account of the service token',
    responses: { 200: { description: 'The account', schema: userSchema } },
  },
  listStreams: {
    ...plain,
    method: 'GET',
    path: '/api/v1/streams/',
    role: 'api',
    access: 'optional',
    summary: "A producer's streams, newest first",
    query: streamListQuerySchema,
    responses: {
      200: {
        description: 'One page',
        schema: streamPageSchema,
        headers: { 'Cache-Control': z.literal('public, no-cache') },
      },
    },
    errors: [404],
  },
  readStream: {
    ...plain,
    method: 'GET',
    path: '/api/v1/streams/{stream_id}/',
    role: 'api',
    access: 'optional',
    summary: 'One stream',
    description:
      'A viewer who comes while a quiz is open finds it with `quiz_interval`, and can answer it.',
    responses: { 200: { description: 'The stream', schema: streamDetailSchema } },
    errors: [404],
  },
  createToken: {
    method: 'POST',
    path: '/api/v1/token',
    role: 'auth',
    access: 'optional',
    bodyBytes: VIEWER_BODY_BYTES,
    summary: 'A token for a viewer of a stream, good for 10 minutes',
    description:
      'Open by default; with `--token-auth=producer` it takes the service token of the stream’s owner.',
    body: tokenRequestSchema,
    responses: { 200: { description: 'The token', schema: viewerTokenSchema } },
    errors: [404, 409, 429],
  },
  readJwks: {
    ...plain,
    method: 'GET',
    path: '/.well-known/jwks.json',
    role: 'auth',
    access: 'public',
    summary: 'Public keys that viewer tokens are signed with (RFC 7517)',
    responses: {
      200: {
        description: 'The key set',
        schema: jwksSchema,
        headers: { 'Cache-Control': z.literal('public, max-age=300') },
      },
    },
  },
  registerView: {
    ...viewer,
    method: 'POST',
    path: '/api/v1/view-counts/{stream_id}',
    role: 'view-counts',
    summary: 'Count me for a second',
    description: 'A client posts once a second while it is connected.',
    responses: { 204: { description: 'Counted' } },
  },
  readViewCount: {
    ...viewer,
    method: 'GET',
    path: '/api/v1/view-counts/{stream_id}',
    role: 'view-counts',
    summary: 'How many viewers are present',
    responses: { 200: { description: 'The count', schema: viewCountSchema } },
  },
  answerQuiz: {
    ...viewer,
    method: 'POST',
    path: '/api/v1/quizzes/{quiz_id}/answer',
    role: 'polls',
    summary: 'Answer a quiz',
    description: 'The first answer stands. The same answer again is a yes, another one is 409.',
    body: answerSchema,
    responses: { 204: { description: 'Recorded' } },
    errors: [404, 409, 429],
  },
  recordWinner: {
    ...viewer,
    method: 'POST',
    path: '/api/v1/quizzes/{stream_id}/record-winner',
    role: 'polls',
    summary: 'Report myself as a winner',
    description: 'After `request-quiz-winners`, by a viewer who answered everything correctly.',
    responses: { 204: { description: 'Counted as a winner' } },
    errors: [409, 429],
  },
  readInterval: {
    ...viewer,
    method: 'GET',
    path: '/api/v1/events-streams/{stream_id}',
    role: 'events',
    summary: 'All events of an interval',
    description:
      'Sealed intervals at once, the current one and up to 4 ahead when they are sealed. With `Accept: text/event-stream` all intervals from this one on, as they are sealed; `Last-Event-ID` resumes.',
    query: z.object({
      interval: z.string().meta({
        description: 'The 250-ms interval: floor(Unix ms / 250)',
        type: 'integer',
        minimum: 0,
      }),
    }),
    headers: z.object({
      'If-None-Match': z
        .string()
        .meta({ description: 'An `ETag`: 304 when it is this interval' })
        .optional(),
      'Last-Event-ID': z
        .string()
        .meta({ description: 'With `text/event-stream`: the last interval that was received' })
        .optional(),
    }),
    responses: {
      200: {
        description: 'The interval',
        schema: eventsIntervalSchema,
        otherTypes: {
          'text/event-stream': z.string().meta({
            description: 'Messages with the interval as `id` and its JSON as `data`',
          }),
        },
        headers: {
          ETag: z
            .string()
            .meta({ description: 'The same for ever; not of an event stream' })
            .optional(),
          'Cache-Control': intervalCacheControl,
        },
      },
      304: {
        description: 'If-None-Match named this interval',
        headers: { ETag: z.string(), 'Cache-Control': intervalCacheControl },
      },
    },
  },
  postChat: {
    ...viewer,
    method: 'POST',
    path: '/api/v1/events-streams/{stream_id}/chats',
    role: 'events',
    summary: 'Say something, or send hearts',
    body: chatPostSchema,
    responses: { 204: { description: 'Taken' } },
    errors: [409, 429],
  },
} as const satisfies Record<string, Operation>;
