import { z } from 'zod';
import { PAGE_SIZE, PAGE_SIZE_MAX, PLAYBACK_LADDER } from './limits.ts';
import { viewerChatSchema } from './moderation.ts';
import { uuid } from './text.ts';

export const STREAM_STATUSES = ['CREATED', 'STREAMING', 'ENDED'] as const;
export const streamStatusSchema = z.enum(STREAM_STATUSES);
export type StreamStatus = z.infer<typeof streamStatusSchema>;

const qualities = PLAYBACK_LADDER.map(
  ({ name, divisor, megabytesPerS }) =>
    `${name} (${divisor === 1 ? 'as the input' : `1/${divisor} of it`}, ${megabytesPerS} MB/s)`,
).join(', ');

/** A stream as every viewer sees it (interface, Stream). */
export const streamSchema = z
  .object({
    id: uuid,
    producer: uuid.meta({ description: 'The producing user; it never changes' }),
    dash_url: z.string().meta({ description: `Address of the DASH manifest: ${qualities}` }),
    hls_url: z.string().meta({ description: `Address of the HLS master playlist: ${qualities}` }),
    status: streamStatusSchema,
  })
  .meta({
    id: 'Stream',
    examples: [
      {
        id: '0f8fad5b-d9cb-469f-a165-70867728950e',
        producer: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
        dash_url: 'http://localhost:4250/media/0f8fad5b-d9cb-469f-a165-70867728950e/manifest.mpd',
        hls_url: 'http://localhost:4250/media/0f8fad5b-d9cb-469f-a165-70867728950e/master.m3u8',
        status: 'STREAMING',
      },
    ],
  });
export type Stream = z.infer<typeof streamSchema>;

/** A stream's detail: a viewer of it is told of the quiz that is open, and of the chat. */
export const streamDetailSchema = streamSchema
  .extend({
    quiz_interval: z
      .int()
      .min(0)
      .nullable()
      .meta({
        description:
          'Only with a viewer token: the interval of the feed that holds the `quiz` event of the quiz that is open, of several the one published last; null when none is',
      })
      .optional(),
    chat: viewerChatSchema
      .meta({ description: 'Only with a viewer token: how the chat goes' })
      .optional(),
  })
  .meta({ id: 'StreamDetail' });
export type StreamDetail = z.infer<typeof streamDetailSchema>;

/** One page of a producer's streams (interface, Stream list page). */
export const streamPageSchema = z
  .object({
    count: z.int().min(0),
    next: z.string().nullable(),
    previous: z.string().nullable(),
    results: z.array(streamSchema),
  })
  .meta({ id: 'StreamPage' });
export type StreamPage = z.infer<typeof streamPageSchema>;

// No account has as many streams as that, so that what is beyond it is all the same.
const POSITIVE_MAX = 999_999_999;
const positive = z
  .string()
  .regex(/^[1-9][0-9]*$/, 'must be a whole number from 1')
  .transform((digits) => Math.min(Number(digits), POSITIVE_MAX));
// The document describes the number, not the text that it is in a query.
const wholeNumber = { type: 'integer', pattern: undefined, minimum: 1 };

/** Query of the stream list. */
export const streamListQuerySchema = z.object({
  producer: uuid.meta({ description: "The account's uuid, from `users/me`" }),
  page: positive
    .default(1)
    .meta({ ...wholeNumber, description: 'Which page; 1 when it is left out' }),
  page_size: positive
    .refine((size) => size <= PAGE_SIZE_MAX, `must be at most ${PAGE_SIZE_MAX}`)
    .default(PAGE_SIZE)
    .meta({
      ...wholeNumber,
      maximum: PAGE_SIZE_MAX,
      description: `${PAGE_SIZE} when it is left out`,
    }),
});
export type StreamListQuery = z.infer<typeof streamListQuerySchema>;
