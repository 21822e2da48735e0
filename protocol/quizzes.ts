import { z } from 'zod';
import { unixMs, uuid, wholeNumber } from './text.ts';

export const choiceCountSchema = z
  .object({ count: wholeNumber, percentage: z.int().min(0).max(100) })
  .meta({ id: 'ChoiceCount' });
export type ChoiceCount = z.infer<typeof choiceCountSchema>;
export const choiceCountsSchema = z.record(z.string(), choiceCountSchema);

/** A quiz in events. `order` exists because an object puts keys such as "1984" first. */
export const quizSchema = z
  .object({
    id: uuid,
    streamId: uuid,
    created: unixMs,
    duration: wholeNumber.describe('Length of the countdown, ms'),
    closeInterval: wholeNumber.describe('The first interval in which answers are rejected'),
    question: z.string(),
    choices: choiceCountsSchema.describe(
      'Counts by the text of the choice; all 0 before the results',
    ),
    order: z.array(z.string()).describe("Texts of the choices in the producer's order"),
  })
  .meta({ id: 'Quiz' });
export type Quiz = z.infer<typeof quizSchema>;

export const quizResultsSchema = quizSchema
  .extend({ answer: z.string().describe('The correct choice') })
  .meta({ id: 'QuizResults' });
export type QuizResults = z.infer<typeof quizResultsSchema>;

const EXAMPLE_ANSWER = {
  streamId: '0f8fad5b-d9cb-469f-a165-70867728950e',
  choice: 'Jupiter',
  closeInterval: 7_040_000_000,
};

/** A viewer's answer. Only the server's clock decides whether it is in time. */
export const answerSchema = z
  .object({
    streamId: uuid,
    choice: z.string().describe('One of the keys of `choices`'),
    closeInterval: z.int().describe('`closeInterval` of the `quiz` event'),
  })
  .meta({ id: 'Answer', examples: [EXAMPLE_ANSWER] });
export type Answer = z.infer<typeof answerSchema>;

export const QUIZ_STATES = ['draft', 'open', 'closed', 'revealed'] as const;
export type QuizState = (typeof QUIZ_STATES)[number];
/** `auto`: the results are published at the close; `manual`: when the producer reveals the quiz. */
export const REVEALS = ['auto', 'manual'] as const;
export type Reveal = (typeof REVEALS)[number];
