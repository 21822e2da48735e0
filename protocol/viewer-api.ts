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
import { contactPostSchema, ownContactSchema } from './winner-contacts.ts';

const withViewerToken = { access: 'viewer', bodyBytes: VIEWER_BODY_BYTES } as const;
const withBodyLimit = { bodyBytes: BODY_BYTES } as const;

const intervalCacheControl = z
  .enum([
    'private, max-age=31536000, immutable',
    'public, max-age=31536000, s-maxage=31536000, immutable',
    'no-store',
  ])
  .describe(
    'A sealed interval never changes: `private`, or `public` if the service runs behind an edge cache that verifies tokens; `no-store` for an event stream',
  );

/** The viewer API: all operations under `/api/v1`, and the public keys. */
export const viewerApi = {
  readTime: {
    ...withBodyLimit,
    method: 'GET',
    path: '/api/v1/time',
    role: 'always',
    access: 'public',
    summary: 'Read the service time',
    description:
      'Returns ISO 8601 in UTC with milliseconds for `Accept: text/plain` or `format=iso`, which DASH players use.',
    query: timeQuerySchema,
    responses: {
      200: {
        description: 'The service time',
        schema: timeSchema,
        otherTypes: { 'text/plain': z.iso.datetime({ precision: 3 }) },
      },
    },
  },
  readMe: {
    ...withBodyLimit,
    method: 'GET',
    path: '/api/v1/users/me',
    role: 'api',
    access: 'service',
    summary: 'Read the account of the service token',
    responses: { 200: { description: 'The account', schema: userSchema } },
  },
  listStreams: {
    ...withBodyLimit,
    method: 'GET',
    path: '/api/v1/streams/',
    role: 'api',
    access: 'optional',
    summary: "List a producer's streams, newest first",
    query: streamListQuerySchema,
    responses: {
      200: {
        description: 'A page of streams',
        schema: streamPageSchema,
        headers: { 'Cache-Control': z.literal('public, no-cache') },
      },
    },
    errors: [404],
  },
  readStream: {
    ...withBodyLimit,
    method: 'GET',
    path: '/api/v1/streams/{stream_id}/',
    role: 'api',
    access: 'optional',
    summary: 'Read a stream',
    description:
      'A viewer who joins while a quiz is open finds the quiz in the interval `quiz_interval` and can answer it.',
    responses: { 200: { description: 'The stream', schema: streamDetailSchema } },
    errors: [404],
  },
  createToken: {
    method: 'POST',
    path: '/api/v1/token',
    role: 'auth',
    access: 'configured',
    bodyBytes: VIEWER_BODY_BYTES,
    summary: 'Create a token for a viewer of a stream, valid for 10 minutes',
    description:
      'Ignores the credential by default. With `--token-auth=producer` it returns 401 without the service token of the stream’s owner. A banned viewer gets 401 in both cases.',
    body: tokenRequestSchema,
    responses: { 200: { description: 'The token', schema: viewerTokenSchema } },
    errors: [404, 409, 429],
  },
  readJwks: {
    ...withBodyLimit,
    method: 'GET',
    path: '/.well-known/jwks.json',
    role: 'auth',
    access: 'public',
    summary: 'Read the public keys of viewer tokens (RFC 7517)',
    responses: {
      200: {
        description: 'The key set',
        schema: jwksSchema,
        headers: { 'Cache-Control': z.literal('public, max-age=300') },
      },
    },
  },
  registerView: {
    ...withViewerToken,
    method: 'POST',
    path: '/api/v1/view-counts/{stream_id}',
    role: 'view-counts',
    summary: 'Register as a viewer for one second',
    description: 'A client sends this once a second while it is connected.',
    responses: { 204: { description: 'Counted' } },
  },
  readViewCount: {
    ...withViewerToken,
    method: 'GET',
    path: '/api/v1/view-counts/{stream_id}',
    role: 'view-counts',
    summary: 'Read the number of viewers',
    responses: { 200: { description: 'The count', schema: viewCountSchema } },
  },
  answerQuiz: {
    ...withViewerToken,
    method: 'POST',
    path: '/api/v1/quizzes/{quiz_id}/answer',
    role: 'polls',
    summary: 'Answer a quiz',
    description:
      'The first answer counts. The same answer again returns 204, a different answer 409.',
    body: answerSchema,
    responses: { 204: { description: 'Recorded' } },
    errors: [404, 409, 429],
  },
  recordWinner: {
    ...withViewerToken,
    method: 'POST',
    path: '/api/v1/quizzes/{stream_id}/record-winner',
    role: 'polls',
    summary: 'Claim to be a winner',
    description:
      'For viewers who answered all quizzes of the game correctly, after the `request-quiz-winners` event.',
    responses: { 204: { description: 'Counted as a winner' } },
    errors: [409, 429],
  },
  readOwnContact: {
    ...withViewerToken,
    method: 'GET',
    path: '/api/v1/quizzes/{stream_id}/winner-contact',
    role: 'polls',
    summary:
      'Read whether this winner is asked for contact details, what it sent, and whether some are stored',
    responses: { 200: { description: 'The request', schema: ownContactSchema } },
    errors: [429],
  },
  saveOwnContact: {
    ...withViewerToken,
    method: 'POST',
    path: '/api/v1/quizzes/{stream_id}/winner-contact',
    role: 'polls',
    summary: 'Give contact details, in place of earlier ones',
    description: 'Only the producer reads them.',
    body: contactPostSchema,
    responses: { 204: { description: 'Stored' } },
    errors: [409, 429],
  },
  eraseOwnContact: {
    ...withViewerToken,
    method: 'DELETE',
    path: '/api/v1/quizzes/{stream_id}/winner-contact',
    role: 'polls',
    summary: 'Erase the contact details of this viewer in this stream, those of all rounds',
    responses: { 204: { description: 'Erased' } },
    errors: [429],
  },
  readInterval: {
    ...withViewerToken,
    method: 'GET',
    path: '/api/v1/events-streams/{stream_id}',
    role: 'events',
    summary: 'Read all events of an interval',
    description:
      'Returns a sealed interval at once. A request for the current interval or up to 4 ahead waits until the interval is sealed. With `Accept: text/event-stream` the response contains all intervals from this one on as they are sealed; resume with `Last-Event-ID`.',
    query: z.object({
      interval: z.string().meta({
        description: 'The 250-ms interval: floor(Unix ms / 250)',
        type: 'integer',
        minimum: 0,
      }),
    }),
    headers: z.object({
      'If-None-Match': z.string().describe('An `ETag`; 304 if it matches').optional(),
      'Last-Event-ID': z
        .string()
        .describe('With `text/event-stream`: the last received interval')
        .optional(),
    }),
    responses: {
      200: {
        description: 'The interval',
        schema: eventsIntervalSchema,
        otherTypes: {
          'text/event-stream': z
            .string()
            .describe('Messages with the interval as `id` and its JSON as `data`'),
        },
        headers: {
          ETag: z.string().describe('Never changes; absent for an event stream').optional(),
          'Cache-Control': intervalCacheControl,
        },
      },
      304: {
        description: '`If-None-Match` matches this interval',
        headers: { ETag: z.string(), 'Cache-Control': intervalCacheControl },
      },
    },
  },
  postChat: {
    ...withViewerToken,
    method: 'POST',
    path: '/api/v1/events-streams/{stream_id}/chats',
    role: 'events',
    summary: 'Post a chat message or send hearts',
    body: chatPostSchema,
    responses: { 204: { description: 'Accepted' } },
    errors: [409, 429],
  },
} as const satisfies Record<string, Operation>;
