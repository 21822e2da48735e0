import { z } from 'zod';
import { WINNERS_SENT_MAX } from './limits.ts';
import { choiceCountsSchema } from './quizzes.ts';
import { streamStatusSchema } from './streams.ts';
import { unixMs, uuid, wholeNumber } from './text.ts';
import { roundWinnerSchema } from './winners.ts';

/** When the presenter key of a show was created. */
export const presenterKeySchema = z
  .object({
    created: unixMs.nullable().describe('When the key was created; null: there is no key'),
  })
  .meta({ id: 'PresenterKey' });

const EXAMPLE_CREATED_PRESENTER_KEY = {
  key: 'pk_…',
  url: 'http://localhost:4250/studio/present/0f8fad5b-d9cb-469f-a165-70867728950e#key=pk_…',
};

export const createdPresenterKeySchema = z
  .object({
    key: z.string().describe('The presenter key, shown only in this response'),
    url: z.string().describe('URL of the presenter display, with the key in its fragment'),
  })
  .meta({ id: 'CreatedPresenterKey', examples: [EXAMPLE_CREATED_PRESENTER_KEY] });

const counts = (description: string) => choiceCountsSchema.describe(description);

const presenterQuizSchema = z
  .object({
    id: uuid,
    question: z.string(),
    order: z.array(z.string()).describe('Texts of the choices in order'),
    state: z.enum(['open', 'closed', 'revealed']),
    created: unixMs.describe('When the quiz was published'),
    duration: wholeNumber.describe('Length of the countdown that viewers see, ms'),
    closeInterval: wholeNumber.describe('The first interval in which answers are rejected'),
    answered: wholeNumber.describe('Number of viewers who have answered so far'),
    tally: counts('Answers so far; null from the reveal on').nullable(),
    results: z
      .object({ answer: z.string(), choices: counts('Counts by the text of the choice') })
      .nullable()
      .describe('Results; null before the reveal'),
  })
  .meta({ id: 'PresenterQuiz' });
export type PresenterQuiz = z.infer<typeof presenterQuizSchema>;

/** The state of a show for the presenter display, at one moment. */
export const presenterStateSchema = z
  .object({
    now: unixMs.describe('Service time'),
    stream: z.object({ id: uuid, title: z.string(), status: streamStatusSchema }),
    count: wholeNumber.nullable().describe('Current viewers; null: temporarily unknown'),
    quiz: presenterQuizSchema
      .nullable()
      .describe('The quiz published last; null: none was published'),
    winners: z
      .object({
        count: wholeNumber.nullable(),
        first: z
          .array(roundWinnerSchema)
          .describe(
            `The first ${WINNERS_SENT_MAX} winners, those with names first; without the names that moderators hid`,
          ),
      })
      .nullable()
      .describe('The winners round requested after that quiz; `count` is null until it is counted'),
  })
  .meta({ id: 'PresenterState' });
export type PresenterState = z.infer<typeof presenterStateSchema>;
