import { z } from 'zod';
import { customTypeSchema, EVENT_TYPES } from './feed.ts';
import { summarizeIssues } from './issues.ts';
import {
  CHAT_NAME_CHARS,
  CHAT_TEXT_CHARS,
  CHOICE_CHARS,
  CHOICES_MAX,
  CHOICES_MIN,
  CONTACTS_SENT_MAX,
  DISCOUNTS_MAX,
  LATENCY_ALLOWANCE_MAX_MS,
  QUANTITY_MAX,
  QUESTION_CHARS,
  QUIZ_DURATION_MAX_MS,
  QUIZ_DURATION_MIN_MS,
} from './limits.ts';
import { choiceCountsSchema, QUIZ_STATES, REVEALS } from './quizzes.ts';
import { newShowPageFields, showPageFields } from './show-page.ts';
import { NO_SHOW_PAGE } from './show-page-values.ts';
import { EXAMPLE_STREAM, streamSchema } from './streams.ts';
import { httpUrl, patchOf, text, unixMs, uuid, wholeNumber } from './text.ts';

/** A key with which a write takes effect once within 24 hours. */
export const idempotencyKeySchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters')
  .describe(
    'A repeated request with the same key within 24 hours has no further effect and returns the first response. A different request with the same key returns 409',
  );

const streamFields = {
  title: text(200),
  dash_url: httpUrl.nullable(),
  hls_url: httpUrl.nullable(),
  unlisted: z.boolean(),
  latencyAllowance: z
    .int()
    .min(0)
    .max(LATENCY_ALLOWANCE_MAX_MS)
    .describe('Time added to every quiz for viewers with delayed video, ms'),
  recording: z
    .boolean()
    .describe('Whether the whole video is kept for replay; otherwise only the DVR window'),
  autoStart: z
    .boolean()
    .describe(
      'Whether the stream starts when a video source connects; otherwise the source is a preview until the start',
    ),
  keepOpen: z
    .boolean()
    .describe('Whether the stream stays live when its video source does not return'),
  ...showPageFields,
};

/** A new stream. Where a URL is null, viewers get the URL of this service. */
export const newStreamSchema = z
  .strictObject({
    title: streamFields.title,
    dash_url: streamFields.dash_url.default(null),
    hls_url: streamFields.hls_url.default(null),
    unlisted: streamFields.unlisted.default(false),
    latencyAllowance: streamFields.latencyAllowance.default(0),
    recording: streamFields.recording.default(false),
    autoStart: streamFields.autoStart.default(false),
    keepOpen: streamFields.keepOpen.default(false),
    ...newShowPageFields,
  })
  .meta({ id: 'NewStream', examples: [{ title: 'Quiz night', latencyAllowance: 2000 }] });
export type NewStream = z.infer<typeof newStreamSchema>;

export const streamPatchSchema = patchOf(streamFields).meta({
  id: 'StreamPatch',
  minProperties: 1,
  examples: [{ title: 'Quiz night, part two' }],
});
export type StreamPatch = z.infer<typeof streamPatchSchema>;

const EXAMPLE_STUDIO_STREAM = {
  ...EXAMPLE_STREAM,
  title: 'Quiz night',
  unlisted: false,
  latencyAllowance: 2000,
  recording: false,
  autoStart: false,
  keepOpen: false,
  ...NO_SHOW_PAGE,
  created: 1_760_000_000_000,
  started: 1_760_000_060_000,
  ended: null,
  endsAt: null,
  rehearsalOf: null,
};

/** A stream as its account sees it. */
export const studioStreamSchema = streamSchema
  .extend({
    title: z.string(),
    unlisted: z.boolean(),
    latencyAllowance: wholeNumber.describe('Time added to every quiz, ms'),
    recording: z.boolean(),
    autoStart: streamFields.autoStart,
    keepOpen: streamFields.keepOpen,
    ...showPageFields,
    created: unixMs,
    started: unixMs.nullable(),
    ended: unixMs.nullable(),
    endsAt: unixMs.nullable().describe('When the stream ends automatically; null: it does not'),
    rehearsalOf: uuid
      .nullable()
      .describe('The stream that this one rehearses; null: this is not a rehearsal'),
  })
  .meta({ id: 'StudioStream', examples: [EXAMPLE_STUDIO_STREAM] });
export type StudioStream = z.infer<typeof studioStreamSchema>;

export const endStreamSchema = z
  .strictObject({ at: unixMs.describe('When to end, Unix ms; now by default').optional() })
  .meta({ id: 'EndStream' });

const choice = text(CHOICE_CHARS).refine(
  (value) => value !== '__proto__',
  'must not be "__proto__"',
);
const quizFields = {
  question: text(QUESTION_CHARS),
  choices: z
    .array(choice)
    .min(CHOICES_MIN)
    .max(CHOICES_MAX)
    .refine((choices) => new Set(choices).size === choices.length, 'must be distinct'),
  answer: choice,
  duration: z
    .int()
    .min(QUIZ_DURATION_MIN_MS)
    .max(QUIZ_DURATION_MAX_MS)
    .describe('Time to answer, ms'),
  reveal: z.enum(REVEALS),
};

const EXAMPLE_NEW_QUIZ = {
  question: 'Which planet is the largest?',
  choices: ['Mars', 'Jupiter', 'Venus'],
  answer: 'Jupiter',
  duration: 10_000,
};

/** A new quiz, a draft until it is published. */
export const newQuizSchema = z
  .strictObject({ ...quizFields, reveal: quizFields.reveal.default('auto') })
  .refine((quiz) => quiz.choices.includes(quiz.answer), {
    path: ['answer'],
    message: 'must be one of the choices',
  })
  .meta({ id: 'NewQuiz', examples: [EXAMPLE_NEW_QUIZ] });
export type NewQuiz = z.infer<typeof newQuizSchema>;

export const quizPatchSchema = patchOf(quizFields).meta({
  id: 'QuizPatch',
  minProperties: 1,
  examples: [{ duration: 15_000 }],
});
export type QuizPatch = z.infer<typeof quizPatchSchema>;

const EXAMPLE_STUDIO_QUIZ = {
  id: '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d',
  streamId: '0f8fad5b-d9cb-469f-a165-70867728950e',
  state: 'revealed',
  question: 'Which planet is the largest?',
  choices: ['Mars', 'Jupiter', 'Venus'],
  answer: 'Jupiter',
  duration: 10_000,
  reveal: 'auto',
  created: 1_760_000_000_600,
  closeInterval: 7_040_000_043,
  counts: {
    Mars: { count: 12, percentage: 12 },
    Jupiter: { count: 70, percentage: 70 },
    Venus: { count: 18, percentage: 18 },
  },
};

/** A quiz as its account sees it, with the answer. */
export const studioQuizSchema = z
  .object({
    id: uuid,
    streamId: uuid,
    state: z.enum(QUIZ_STATES),
    question: z.string(),
    choices: z.array(z.string()),
    answer: z.string(),
    duration: wholeNumber.describe('Time to answer, ms'),
    reveal: z.enum(REVEALS),
    created: unixMs.nullable().describe('When the quiz was published; null: it is a draft'),
    closeInterval: wholeNumber
      .nullable()
      .describe('The first interval in which answers are rejected'),
    counts: choiceCountsSchema
      .nullable()
      .describe('Counts by the text of the choice; null before the close'),
  })
  .meta({ id: 'StudioQuiz', examples: [EXAMPLE_STUDIO_QUIZ] });
export type StudioQuiz = z.infer<typeof studioQuizSchema>;

const EXAMPLE_WINNERS_ROUND = {
  id: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
  streamId: '0f8fad5b-d9cb-469f-a165-70867728950e',
  state: 'closed',
  quizzes: 3,
  requested: 1_760_000_100_000,
  count: 17,
  contactNote: null,
  contacts: 0,
};

export const winnersRoundSchema = z
  .object({
    id: uuid,
    streamId: uuid,
    state: z.enum(['open', 'closed']),
    quizzes: wholeNumber.describe('Number of quizzes in the round'),
    requested: unixMs.describe('When the winners were requested, Unix ms'),
    count: wholeNumber.nullable().describe('Number of winners; null until the round is closed'),
    contactNote: z
      .string()
      .nullable()
      .describe('What the winners are asked for contact details; null: not asked'),
    contacts: wholeNumber.describe(
      `Number of winners who gave contact details, counted up to ${CONTACTS_SENT_MAX}`,
    ),
  })
  .meta({ id: 'WinnersRound', examples: [EXAMPLE_WINNERS_ROUND] });
export type WinnersRound = z.infer<typeof winnersRoundSchema>;

// Purchases and discounts have their own schemas, so an invalid one must not pass as a custom event.
export const customEventTypeSchema = customTypeSchema
  .refine((type) => type !== 'purchase' && type !== 'discount', {
    message: 'must not be "purchase" or "discount", which have their own schemas',
    abort: true,
  })
  .meta({ not: { enum: [...EVENT_TYPES, 'purchase', 'discount'] } });

const purchaseSchema = z.strictObject({
  name: text(CHAT_NAME_CHARS).default(''),
  text: text(CHAT_TEXT_CHARS),
  productId: uuid.describe('The product whose stock falls').optional(),
  quantity: z.int().min(1).max(QUANTITY_MAX).describe('Pieces; 1 by default').optional(),
});
export type Purchase = z.infer<typeof purchaseSchema>;

/** An event of the producer: a purchase, a discount, or a custom event. */
export const producerEventSchema = z
  .union(
    [
      z.strictObject({
        type: z.literal('purchase'),
        data: purchaseSchema,
      }),
      z.strictObject({
        type: z.literal('discount'),
        data: z.strictObject({ count: z.int().min(1).max(DISCOUNTS_MAX).default(1) }).prefault({}),
      }),
      z.strictObject({ type: customEventTypeSchema, data: z.looseObject({}).nullable() }),
    ],
    { error: (issue) => (issue.code === 'invalid_union' ? issuesOfType(issue) : undefined) },
  )
  .meta({
    id: 'ProducerEvent',
    examples: [
      { type: 'purchase', data: { name: 'Ada', text: 'bought two mugs' } },
      { type: 'discount', data: { count: 1 } },
      { type: 'lights', data: { color: 'red' } },
    ],
  });
export type ProducerEvent = z.infer<typeof producerEventSchema>;

// If no schema of the union matches, zod reports only "Invalid input". Reports the errors of the
// schema for this `type` instead.
function issuesOfType({ input, errors }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>) {
  const type = input !== null && typeof input === 'object' && 'type' in input ? input.type : null;
  const schemaIndex = type === 'purchase' ? 0 : type === 'discount' ? 1 : 2;
  return summarizeIssues(errors?.[schemaIndex] ?? []);
}

export const acceptedEventSchema = z
  .object({ id: z.string(), streamId: uuid, type: z.string() })
  .meta({ id: 'AcceptedEvent' });

/** A list of the studio API: `{results: [...]}`. */
export const listOf = <T extends z.ZodType>(item: T) => z.object({ results: z.array(item) });

export const EXPORTS = [
  'answers',
  'winners',
  'contacts',
  'feed',
  'audience',
  'chat',
  'results',
] as const;
export type ExportKind = (typeof EXPORTS)[number];
export const exportQuerySchema = z.object({ format: z.enum(['ndjson', 'csv']).default('ndjson') });
