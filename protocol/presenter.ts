import { z } from 'zod';
import { choiceCountSchema } from './quizzes.ts';
import { streamStatusSchema } from './streams.ts';
import { unixMs, uuid } from './text.ts';

/** When the presenter key of a show was made. */
export const presenterKeySchema = z
  .object({
    created: unixMs.nullable().meta({ description: 'When the key was made; null: there is none' }),
  })
  .meta({ id: 'PresenterKey' });

/** A presenter key that was made just now. */
export const createdPresenterKeySchema = z
  .object({
    key: z.string().meta({ description: 'Shown this once' }),
    url: z.string().meta({ description: 'The page, with the key in its fragment' }),
  })
  .meta({
    id: 'CreatedPresenterKey',
    examples: [
      {
        key: 'pk_…',
        url: 'http://localhost:4250/studio/present/0f8fad5b-d9cb-469f-a165-70867728950e#key=pk_…',
      },
    ],
  });

const counts = (description: string) =>
  z.record(z.string(), choiceCountSchema).meta({ description });

const presenterQuizSchema = z
  .object({
    id: uuid,
    question: z.string(),
    order: z.array(z.string()).meta({ description: 'The texts of the choices' }),
    state: z.enum(['open', 'closed', 'revealed']),
    created: unixMs.meta({ description: 'When it was published' }),
    duration: z.int().min(0).meta({ description: 'ms, as viewers see it count down' }),
    closeInterval: z.int().min(0).meta({ description: 'The interval at which answers stop' }),
    answered: z.int().min(0).meta({ description: 'How many have answered so far' }),
    tally: counts('Its answers so far, until its results; null from then on').nullable(),
    results: z
      .object({ answer: z.string(), choices: counts('By the text of the choice') })
      .nullable()
      .meta({ description: 'From the reveal on' }),
  })
  .meta({ id: 'PresenterQuiz' });
export type PresenterQuiz = z.infer<typeof presenterQuizSchema>;

/** A show as the wall behind its host has it, at one moment. */
export const presenterStateSchema = z
  .object({
    now: unixMs.meta({ description: "The service's time" }),
    stream: z.object({ id: uuid, title: z.string(), status: streamStatusSchema }),
    count: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: 'Viewers now; null: not known at the moment' }),
    quiz: presenterQuizSchema
      .nullable()
      .meta({ description: 'The quiz that was published last; null: none was' }),
    winners: z
      .object({ count: z.int().min(0).nullable() })
      .nullable()
      .meta({
        description:
          'Of the round that was asked for after that quiz; `count` is null until it is known',
      }),
  })
  .meta({ id: 'PresenterState' });
export type PresenterState = z.infer<typeof presenterStateSchema>;
