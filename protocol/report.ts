import { z } from 'zod';
import { intervalCountSchema } from './history.ts';
import { ANSWER_TIME_BINS, LAST_MOMENT_MS, REPORT_POINTS } from './limits.ts';
import { choiceCountsSchema } from './quizzes.ts';
import { unixMs, uuid, wholeNumber } from './text.ts';

/** The answer time: when an answer arrived. */
const answerTimeMs = z.int().describe('ms since the start of the interval with the `quiz` event');

const workingSchema = z.object({
  state: z.literal('working'),
  done: z.number().min(0).max(1).describe('Progress from 0 to 1'),
});

const failedSchema = z.object({
  state: z
    .literal('failed')
    .describe('Creating the report failed several times; the service retries automatically'),
});

const answerTimesSchema = z
  .object({
    median: answerTimeMs,
    p90: answerTimeMs.describe('90th percentile'),
    histogram: z
      .object({
        binMs: z.int().min(1).describe('Width of each bin, ms'),
        counts: z
          .array(wholeNumber)
          .max(ANSWER_TIME_BINS)
          .describe('Number of answers in each bin; the first bin starts at 0 ms'),
      })
      .describe('Answer times from the interval with the `quiz` event to the close'),
  })
  .meta({ id: 'AnswerTimes' });
export type AnswerTimes = z.infer<typeof answerTimesSchema>;

export const quizReportSchema = z
  .object({
    id: uuid,
    question: z.string(),
    order: z.array(z.string()).describe("Texts of the choices in the producer's order"),
    counts: choiceCountsSchema.describe('Counts by the text of the choice'),
    answer: z.string().describe('The correct choice'),
    correct: wholeNumber.describe('Number of correct answers'),
    answered: wholeNumber.describe('Number of viewers who answered'),
    toldInterval: wholeNumber.describe('The interval with the `quiz` event'),
    closeInterval: wholeNumber.describe('The first interval in which answers were rejected'),
    answerTimes: answerTimesSchema.nullable().describe('Null: there are no answers'),
    lastMomentShare: z
      .number()
      .min(0)
      .max(1)
      .describe(`Share of the answers in the last ${LAST_MOMENT_MS} ms before the close`),
  })
  .meta({ id: 'QuizReport' });
export type QuizReport = z.infer<typeof quizReportSchema>;

const roundReportSchema = z.object({
  id: uuid,
  requested: unixMs,
  quizzes: wholeNumber.describe('Number of quizzes in the round'),
  count: wholeNumber.describe('Number of winners'),
});
export type RoundReport = z.infer<typeof roundReportSchema>;

const chatReportSchema = z.object({
  lines: z
    .object({
      message: wholeNumber,
      question: wholeNumber,
      greeting: wholeNumber,
      cheer: wholeNumber,
      purchase: wholeNumber,
    })
    .describe('Number of messages sent to viewers, by kind'),
  hearts: wholeNumber,
  discounts: wholeNumber,
});

/** When the answers to all quizzes of a show arrived. */
const fairnessSchema = z
  .object({
    answers: wholeNumber.min(1).describe('Number of answers in the whole show'),
    earliest: answerTimeMs,
    median: answerTimeMs,
    latest: answerTimeMs,
    early: wholeNumber.describe(
      'Answers that arrived before a viewer could have seen the `quiz` event',
    ),
  })
  .meta({ id: 'Fairness' });
export type Fairness = z.infer<typeof fairnessSchema>;

const readySchema = z.object({
  state: z.literal('ready'),
  made: unixMs.describe('When the report was created'),
  started: unixMs.nullable().describe('Null: the stream was never started'),
  ended: unixMs,
  peak: intervalCountSchema
    .nullable()
    .describe('The highest viewer count and its first interval; null: no count was published'),
  average: z.number().min(0).describe('Average number of viewers over the whole show'),
  uniqueViewers: wholeNumber.describe('Number of viewers who got a token for this stream'),
  minutesWatched: z.number().min(0).describe('Total of all viewers'),
  audience: z
    .array(intervalCountSchema)
    .max(REPORT_POINTS)
    .describe('Viewer counts, oldest first; each point has the maximum of its period'),
  quizzes: z.array(quizReportSchema).describe('In the order they were published'),
  rounds: z.array(roundReportSchema).describe('In the order they were requested'),
  chat: chatReportSchema,
  fairness: fairnessSchema.nullable().describe('Null: there are no answers'),
  recording: z.object({
    hls_url: z.string().nullable().describe('URL of the recording; null: there is none'),
  }),
});

/** The report of a show, created after its end. */
export const reportSchema = z
  .discriminatedUnion('state', [workingSchema, readySchema, failedSchema])
  .meta({ id: 'Report', examples: [{ state: 'working', done: 0.4 }] });
export type Report = z.infer<typeof reportSchema>;
export type ReadyReport = z.infer<typeof readySchema>;
