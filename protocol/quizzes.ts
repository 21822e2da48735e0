import { z } from 'zod';
import { unixMs, uuid } from './text.ts';

export const choiceCountSchema = z
  .object({ count: z.int().min(0), percentage: z.int().min(0).max(100) })
  .meta({ id: 'ChoiceCount' });
export type ChoiceCount = z.infer<typeof choiceCountSchema>;

/** A quiz as events carry it (interface, Quiz); `order` keeps keys like "1984" in their place. */
export const quizSchema = z
  .object({
    id: uuid,
    streamId: uuid,
    created: unixMs,
    duration: z.int().min(0).meta({ description: 'ms' }),
    closeInterval: z.int().min(0).meta({ description: 'The interval at which answers stop' }),
    question: z.string(),
    choices: z
      .record(z.string(), choiceCountSchema)
      .meta({ description: 'By the text of the choice; all 0 until the results' }),
    order: z
      .array(z.string())
      .meta({ description: "The choices' texts as the producer ordered them" }),
  })
  .meta({ id: 'Quiz' });
export type Quiz = z.infer<typeof quizSchema>;

export const quizResultsSchema = quizSchema
  .extend({ answer: z.string().meta({ description: 'The correct choice' }) })
  .meta({ id: 'QuizResults' });
export type QuizResults = z.infer<typeof quizResultsSchema>;

/** A viewer's answer. The server's clock decides whether it is in time, never these fields. */
export const answerSchema = z
  .object({
    streamId: uuid,
    choice: z.string().meta({ description: "One of the quiz's choice keys" }),
    closeInterval: z.int().meta({ description: 'From the `quiz` event' }),
  })
  .meta({
    id: 'Answer',
    examples: [
      {
        streamId: '0f8fad5b-d9cb-469f-a165-70867728950e',
        choice: 'Jupiter',
        closeInterval: 7_040_000_000,
      },
    ],
  });
export type Answer = z.infer<typeof answerSchema>;

export const QUIZ_STATES = ['draft', 'open', 'closed', 'revealed'] as const;
export type QuizState = (typeof QUIZ_STATES)[number];
export const REVEALS = ['auto', 'manual'] as const;
export type Reveal = (typeof REVEALS)[number];
