import { z } from 'zod';
import { PAGE_SIZE, PAGE_SIZE_MAX, PLAYBACK_LADDER } from './limits.ts';
import { viewerChatSchema } from './moderation.ts';
import { shownProductSchema } from './products.ts';
import { uuid, wholeNumber } from './text.ts';

export const STREAM_STATUSES = ['CREATED', 'STREAMING', 'ENDED'] as const;
export const streamStatusSchema = z.enum(STREAM_STATUSES);
export type StreamStatus = z.infer<typeof streamStatusSchema>;

const qualities = PLAYBACK_LADDER.map(
  ({ name, divisor, megabytesPerS }) =>
    `${name} (${divisor === 1 ? 'input size' : `1/${divisor} of it`}, ${megabytesPerS} MB/s)`,
).join(', ');

export const EXAMPLE_STREAM = {
  id: '0f8fad5b-d9cb-469f-a165-70867728950e',
  producer: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  dash_url: 'http://localhost:4250/media/0f8fad5b-d9cb-469f-a165-70867728950e/manifest.mpd',
  hls_url: 'http://localhost:4250/media/0f8fad5b-d9cb-469f-a165-70867728950e/master.m3u8',
  status: 'STREAMING',
} as const;

/** The public data of a stream (interface, Stream). */
export const streamSchema = z
  .object({
    id: uuid,
    producer: uuid.describe('The uuid of the account that owns the stream; never changes'),
    dash_url: z.string().describe(`URL of the DASH manifest: ${qualities}`),
    hls_url: z.string().describe(`URL of the HLS master playlist: ${qualities}`),
    status: streamStatusSchema,
  })
  .meta({ id: 'Stream', examples: [EXAMPLE_STREAM] });
export type Stream = z.infer<typeof streamSchema>;

/** A stream; with a viewer token also its open quiz, the viewer’s code and the state of its chat. */
export const streamDetailSchema = streamSchema
  .extend({
    quiz_interval: wholeNumber
      .nullable()
      .describe(
        'Only with a viewer token: the interval with the `quiz` event of the open quiz (if several are open: of the one published last); null: no quiz is open',
      )
      .optional(),
    winner_code: z
      .string()
      .describe(
        'Only with a viewer token: the code under which the producer and the presenter display list this viewer when it wins',
      )
      .optional(),
    product: shownProductSchema
      .nullable()
      .describe('Only with a viewer token: the product that viewers see; null: none')
      .optional(),
    chat: viewerChatSchema.describe('Only with a viewer token: the state of the chat').optional(),
  })
  .meta({ id: 'StreamDetail' });
export type StreamDetail = z.infer<typeof streamDetailSchema>;

/** One page of a producer's streams (interface, Stream list page). */
export const streamPageSchema = z
  .object({
    count: wholeNumber,
    next: z.string().nullable(),
    previous: z.string().nullable(),
    results: z.array(streamSchema),
  })
  .meta({ id: 'StreamPage' });
export type StreamPage = z.infer<typeof streamPageSchema>;

// No account has a page with a larger number; a larger one returns 404 like this one.
const POSITIVE_MAX = 999_999_999;
const positiveInteger = z
  .string()
  .regex(/^[1-9][0-9]*$/, 'must be a whole number of at least 1')
  .transform((digits) => Math.min(Number(digits), POSITIVE_MAX));
// A query has strings; OpenAPI describes them as integers, without the pattern.
const asInteger = { type: 'integer', pattern: undefined, minimum: 1 };

export const streamListQuerySchema = z.object({
  producer: uuid.describe('The uuid of the account, from `users/me`'),
  page: positiveInteger.default(1).meta({ ...asInteger, description: 'Page number; 1 by default' }),
  page_size: positiveInteger
    .refine((size) => size <= PAGE_SIZE_MAX, `must be at most ${PAGE_SIZE_MAX}`)
    .default(PAGE_SIZE)
    .meta({
      ...asInteger,
      maximum: PAGE_SIZE_MAX,
      description: `Number of streams in a page; ${PAGE_SIZE} by default`,
    }),
});
export type StreamListQuery = z.infer<typeof streamListQuerySchema>;
