import { z } from 'zod';
import { EVENT_TYPES } from './feed.ts';
import {
  CHAT_NAME_CHARS,
  CHAT_TEXT_CHARS,
  CHOICE_CHARS,
  CHOICES_MAX,
  CHOICES_MIN,
  LATENCY_ALLOWANCE_MAX_MS,
  QUESTION_CHARS,
  QUIZ_DURATION_MAX_MS,
  QUIZ_DURATION_MIN_MS,
} from './limits.ts';
import { choiceCountSchema, QUIZ_STATES, REVEALS } from './quizzes.ts';
import { streamSchema } from './streams.ts';
import { httpUrl, text, unixMs, uuid } from './text.ts';

const streamFields = {
  title: text(200),
  dash_url: httpUrl.nullable(),
  hls_url: httpUrl.nullable(),
  unlisted: z.boolean(),
  latencyAllowance: z.int().min(0).max(LATENCY_ALLOWANCE_MAX_MS).meta({
    description: 'ms added to every quiz, for viewers whose picture comes late',
  }),
};

/** A new stream. Without addresses of its own it plays from this service. */
export const newStreamSchema = z
  .strictObject({
    title: streamFields.title,
    dash_url: streamFields.dash_url.default(null),
    hls_url: streamFields.hls_url.default(null),
    unlisted: streamFields.unlisted.default(false),
    latencyAllowance: streamFields.latencyAllowance.default(0),
  })
  .meta({ id: 'NewStream' });
export type NewStream = z.infer<typeof newStreamSchema>;

const atLeastOne = (body: object) => Object.keys(body).length > 0;

export const streamPatchSchema = z
  .strictObject(streamFields)
  .partial()
  .refine(atLeastOne, 'name at least one field to change')
  .meta({ id: 'StreamPatch' });
export type StreamPatch = z.infer<typeof streamPatchSchema>;

/** A stream as its producer sees it. */
export const studioStreamSchema = streamSchema
  .extend({
    title: z.string(),
    unlisted: z.boolean(),
    latencyAllowance: z.int(),
    created: unixMs,
    started: unixMs.nullable(),
    ended: unixMs.nullable(),
    endsAt: unixMs.nullable().meta({ description: 'When it will end by itself' }),
  })
  .meta({ id: 'StudioStream' });
export type StudioStream = z.infer<typeof studioStreamSchema>;

/** End now, or at a moment to come. */
export const endStreamSchema = z.strictObject({ at: unixMs.optional() }).meta({ id: 'EndStream' });

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
  duration: z.int().min(QUIZ_DURATION_MIN_MS).max(QUIZ_DURATION_MAX_MS).meta({ description: 'ms' }),
  reveal: z.enum(REVEALS),
};

/** A quiz to keep as a draft until it is published. */
export const newQuizSchema = z
  .strictObject({ ...quizFields, reveal: quizFields.reveal.default('auto') })
  .refine((quiz) => quiz.choices.includes(quiz.answer), {
    path: ['answer'],
    message: 'must be one of the choices',
  })
  .meta({ id: 'NewQuiz' });
export type NewQuiz = z.infer<typeof newQuizSchema>;

export const quizPatchSchema = z
  .strictObject(quizFields)
  .partial()
  .refine(atLeastOne, 'name at least one field to change')
  .meta({ id: 'QuizPatch' });
export type QuizPatch = z.infer<typeof quizPatchSchema>;

/** A quiz as its producer sees it, with the answer. */
export const studioQuizSchema = z
  .object({
    id: uuid,
    streamId: uuid,
    state: z.enum(QUIZ_STATES),
    question: z.string(),
    choices: z.array(z.string()),
    answer: z.string(),
    duration: z.int(),
    reveal: z.enum(REVEALS),
    created: unixMs.nullable().meta({ description: 'When it was published' }),
    closeInterval: z.int().nullable(),
    counts: z.record(z.string(), choiceCountSchema).nullable(),
  })
  .meta({ id: 'StudioQuiz' });
export type StudioQuiz = z.infer<typeof studioQuizSchema>;

export const winnersRoundSchema = z
  .object({
    id: uuid,
    streamId: uuid,
    state: z.enum(['open', 'closed']),
    quizzes: z.int().meta({ description: 'How many quizzes the round asks about' }),
    requested: unixMs,
    count: z.int().nullable().meta({ description: 'Winners; known when the round is closed' }),
  })
  .meta({ id: 'WinnersRound' });
export type WinnersRound = z.infer<typeof winnersRoundSchema>;

const customType = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be a-z, 0-9 and "-", starting with a letter, at most 40')
  .refine(
    (type) => !(EVENT_TYPES as readonly string[]).includes(type),
    'must not be an event type of the interface',
  );

/** An event of the producer: a purchase, a discount, or a type of its own. */
export const producerEventSchema = z
  .union([
    z.strictObject({
      type: z.literal('purchase'),
      data: z.strictObject({
        name: text(CHAT_NAME_CHARS).default(''),
        text: text(CHAT_TEXT_CHARS),
      }),
    }),
    z.strictObject({
      type: z.literal('discount'),
      data: z.strictObject({ count: z.int().min(1).max(1_000_000).default(1) }).prefault({}),
    }),
    z.strictObject({
      type: customType.refine((type) => type !== 'purchase' && type !== 'discount'),
      data: z.looseObject({}).nullable(),
    }),
  ])
  .meta({ id: 'ProducerEvent' });
export type ProducerEvent = z.infer<typeof producerEventSchema>;

export const acceptedEventSchema = z
  .object({ id: z.string(), streamId: uuid, type: z.string() })
  .meta({ id: 'AcceptedEvent' });

/** Lists of the studio API: `{results: [...]}`. */
export const listOf = <T extends z.ZodType>(item: T) => z.object({ results: z.array(item) });

export const EXPORTS = ['answers', 'winners', 'feed'] as const;
export type ExportKind = (typeof EXPORTS)[number];
export const exportQuerySchema = z.object({ format: z.enum(['ndjson', 'csv']).default('ndjson') });
