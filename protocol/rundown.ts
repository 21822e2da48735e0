import { z } from 'zod';
import { QUIZ_DURATION_MAX_MS, QUIZ_DURATION_MIN_MS, QUIZZES_MAX } from './limits.ts';
import { studioQuizSchema } from './studio.ts';
import { uuid, wholeNumber } from './text.ts';

const revision = wholeNumber.describe(
  'Increases whenever a quiz is created, changed, moved, deleted or published',
);

/** The quizzes of a stream, in the order of its rundown. */
export const rundownSchema = z
  .object({ results: z.array(studioQuizSchema), revision })
  .meta({ id: 'Rundown' });
export type Rundown = z.infer<typeof rundownSchema>;

const EXAMPLE_RUNDOWN_ORDER = {
  order: ['9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d', '3fa85f64-5717-4562-b3fc-2c963f66afa6'],
  revision: 7,
};

export const rundownOrderSchema = z
  .strictObject({
    order: z
      .array(uuid)
      .max(QUIZZES_MAX)
      .describe('The ids of all drafts in the new order, each once'),
    revision: revision
      .describe(
        'The revision that the client last read. If it is outdated, the request returns 409',
      )
      .optional(),
  })
  .meta({ id: 'RundownOrder', examples: [EXAMPLE_RUNDOWN_ORDER] });

export const IMPORT_FORMATS = [
  'fourbeat-json',
  'fourbeat-csv',
  'opentdb',
  'the-trivia-api',
  'kahoot-csv',
] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** Duration of imported quizzes for which neither the file nor the request has one. */
const DEFAULT_DURATION_MS = 20_000;

const EXAMPLE_IMPORT_QUIZZES = {
  format: 'fourbeat-csv',
  text: 'question,choice 1,choice 2,answer,duration\r\nWhich is larger?,Mars,Jupiter,Jupiter,10000\r\n',
};

export const importSchema = z
  .strictObject({
    format: z.enum(IMPORT_FORMATS),
    text: z.string().min(1, 'must not be empty').describe('The content of the file'),
    duration: z
      .int()
      .min(QUIZ_DURATION_MIN_MS)
      .max(QUIZ_DURATION_MAX_MS)
      .default(DEFAULT_DURATION_MS)
      .describe('Duration of the quizzes for which the file has none, ms'),
  })
  .meta({ id: 'ImportQuizzes', examples: [EXAMPLE_IMPORT_QUIZZES] });

const { question, choices, answer, duration, reveal } = studioQuizSchema.shape;

/** An exported file of quizzes, which `importQuizzes` accepts. */
export const quizFileSchema = z
  .object({ quizzes: z.array(z.object({ question, choices, answer, duration, reveal })) })
  .meta({ id: 'QuizFile' });
export type QuizFile = z.infer<typeof quizFileSchema>;

export const QUIZ_FILE_FORMATS = ['json', 'csv'] as const;
export type QuizFileFormat = (typeof QUIZ_FILE_FORMATS)[number];
export const quizFileQuerySchema = z.object({ format: z.enum(QUIZ_FILE_FORMATS).default('json') });
