import { z } from 'zod';
import { intervalCountSchema } from './history.ts';
import { choiceCountSchema } from './quizzes.ts';
import { unixMs, uuid } from './text.ts';

/** Most points of the audience curve in a report. */
export const REPORT_POINTS = 1_000;
/** Most bins in the histogram of a quiz's answer times. */
export const ANSWER_TIME_BINS = 20;
/** An answer within this time before the close counts as last-moment, in ms. */
export const LAST_MOMENT_MS = 500;

const whole = z.int().min(0);
const ms = z
  .int()
  .meta({ description: 'ms since the start of the interval with the `quiz` event' });

const workingSchema = z.object({
  state: z.literal('working'),
  done: z.number().min(0).max(1).meta({ description: 'Progress from 0 to 1' }),
});

const failedSchema = z.object({
  state: z.literal('failed').meta({
    description: 'Creating the report failed several times; the service retries automatically',
  }),
});

const answerTimesSchema = z
  .object({
    median: ms,
    p90: ms.meta({ description: '90th percentile' }),
    histogram: z
      .object({
        binMs: z.int().min(1).meta({ description: 'Width of each bin, ms' }),
        counts: z
          .array(whole)
          .max(ANSWER_TIME_BINS)
          .meta({ description: 'Number of answers in each bin; the first bin starts at 0 ms' }),
      })
      .meta({ description: 'Answer times from the interval with the `quiz` event to the close' }),
  })
  .meta({ id: 'AnswerTimes' });
export type AnswerTimes = z.infer<typeof answerTimesSchema>;

export const quizReportSchema = z
  .object({
    id: uuid,
    question: z.string(),
    order: z
      .array(z.string())
      .meta({ description: "Texts of the choices in the producer's order" }),
    counts: z
      .record(z.string(), choiceCountSchema)
      .meta({ description: 'Counts by the text of the choice' }),
    answer: z.string().meta({ description: 'The correct choice' }),
    correct: whole.meta({ description: 'Number of correct answers' }),
    answered: whole.meta({ description: 'Number of viewers who answered' }),
    toldInterval: whole.meta({ description: 'The interval with the `quiz` event' }),
    closeInterval: whole.meta({ description: 'The first interval in which answers were rejected' }),
    answerTimes: answerTimesSchema.nullable().meta({ description: 'Null: there are no answers' }),
    lastMomentShare: z
      .number()
      .min(0)
      .max(1)
      .meta({
        description: `Share of the answers in the last ${LAST_MOMENT_MS} ms before the close`,
      }),
  })
  .meta({ id: 'QuizReport' });
export type QuizReport = z.infer<typeof quizReportSchema>;

const roundReportSchema = z.object({
  id: uuid,
  requested: unixMs,
  quizzes: whole.meta({ description: 'Number of quizzes in the round' }),
  count: whole.meta({ description: 'Number of winners' }),
});

export type RoundReport = z.infer<typeof roundReportSchema>;

const chatReportSchema = z.object({
  lines: z
    .object({
      message: whole,
      question: whole,
      greeting: whole,
      cheer: whole,
      purchase: whole,
    })
    .meta({ description: 'Number of messages sent to viewers, by kind' }),
  hearts: whole,
  discounts: whole,
});

const fairnessSchema = z
  .object({
    answers: whole.min(1).meta({ description: 'Number of answers in the whole show' }),
    earliest: ms,
    median: ms,
    latest: ms,
    early: whole.meta({
      description: 'Answers that arrived before a viewer could have seen the `quiz` event',
    }),
  })
  .meta({ id: 'Fairness' });
export type Fairness = z.infer<typeof fairnessSchema>;

const readySchema = z.object({
  state: z.literal('ready'),
  made: unixMs.meta({ description: 'When the report was created' }),
  started: unixMs.nullable().meta({ description: 'Null: the stream was never started' }),
  ended: unixMs,
  peak: intervalCountSchema.nullable().meta({
    description: 'The highest viewer count and its first interval; null: no count was published',
  }),
  average: z.number().min(0).meta({ description: 'Average number of viewers over the whole show' }),
  uniqueViewers: whole.meta({ description: 'Number of viewers who got a token for this stream' }),
  minutesWatched: z.number().min(0).meta({ description: 'Total of all viewers' }),
  audience: z
    .array(intervalCountSchema)
    .max(REPORT_POINTS)
    .meta({ description: 'Viewer counts, oldest first; each point has the maximum of its period' }),
  quizzes: z.array(quizReportSchema).meta({ description: 'In the order they were published' }),
  rounds: z.array(roundReportSchema).meta({ description: 'In the order they were requested' }),
  chat: chatReportSchema,
  fairness: fairnessSchema.nullable().meta({ description: 'Null: there are no answers' }),
  recording: z.object({
    hls_url: z
      .string()
      .nullable()
      .meta({ description: 'URL of the recording; null: there is none' }),
  }),
});

/** The report of a show, created after its end. */
export const reportSchema = z
  .discriminatedUnion('state', [workingSchema, readySchema, failedSchema])
  .meta({ id: 'Report', examples: [{ state: 'working', done: 0.4 }] });
export type Report = z.infer<typeof reportSchema>;
export type ReadyReport = z.infer<typeof readySchema>;
