import { z } from 'zod';
import { intervalCountSchema } from './history.ts';
import { choiceCountSchema } from './quizzes.ts';
import { unixMs, uuid } from './text.ts';

/** Most points of the audience in a report: more than a chart has room for. */
export const REPORT_POINTS = 1_000;
/** Most bars of a quiz's answer times. */
export const ANSWER_TIME_BINS = 20;
/** How long before the close an answer is one of the last moment, in ms. */
export const LAST_MOMENT_MS = 500;

const whole = z.int().min(0);
const ms = z.int().meta({ description: 'ms since the begin of the interval that told the quiz' });

const workingSchema = z.object({
  state: z.literal('working'),
  done: z.number().min(0).max(1).meta({ description: 'How much of the work is done, of 1' }),
});

const failedSchema = z.object({
  state: z.literal('failed').meta({
    description: 'It could not be made, several times; the service tries again by itself',
  }),
});

const answerTimesSchema = z
  .object({
    median: ms,
    p90: ms.meta({ description: 'Nine of ten answers came by then' }),
    histogram: z
      .object({
        binMs: z.int().min(1).meta({ description: 'How many ms each bar is wide' }),
        counts: z
          .array(whole)
          .max(ANSWER_TIME_BINS)
          .meta({ description: 'Answers by their time, the first bar from 0 ms on' }),
      })
      .meta({ description: 'From the interval that told the quiz to its close' }),
  })
  .meta({ id: 'AnswerTimes' });
export type AnswerTimes = z.infer<typeof answerTimesSchema>;

export const quizReportSchema = z
  .object({
    id: uuid,
    question: z.string(),
    order: z.array(z.string()).meta({ description: 'The choices as the producer ordered them' }),
    counts: z
      .record(z.string(), choiceCountSchema)
      .meta({ description: 'By the text of the choice' }),
    answer: z.string().meta({ description: 'The correct choice' }),
    correct: whole.meta({ description: 'How many answers were correct' }),
    answered: whole.meta({ description: 'How many viewers answered' }),
    toldInterval: whole.meta({ description: 'The interval that told viewers the quiz' }),
    closeInterval: whole.meta({ description: 'The interval at which answers stopped' }),
    answerTimes: answerTimesSchema.nullable().meta({ description: 'Null: nobody answered' }),
    lastMomentShare: z
      .number()
      .min(0)
      .max(1)
      .meta({ description: `Share of the answers that came in the last ${LAST_MOMENT_MS} ms` }),
  })
  .meta({ id: 'QuizReport' });
export type QuizReport = z.infer<typeof quizReportSchema>;

const roundReportSchema = z.object({
  id: uuid,
  requested: unixMs,
  quizzes: whole.meta({ description: 'How many quizzes the round asked about' }),
  count: whole.meta({ description: 'Winners' }),
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
    .meta({ description: 'Lines that viewers were sent' }),
  hearts: whole,
  discounts: whole,
});

const fairnessSchema = z
  .object({
    answers: whole.min(1).meta({ description: 'How many answers this is of: all of the show' }),
    earliest: ms,
    median: ms,
    latest: ms,
    early: whole.meta({
      description: 'Answers that were there before the interval that told the quiz could be shown',
    }),
  })
  .meta({ id: 'Fairness' });
export type Fairness = z.infer<typeof fairnessSchema>;

const readySchema = z.object({
  state: z.literal('ready'),
  made: unixMs.meta({ description: 'When this was worked out' }),
  started: unixMs.nullable().meta({ description: 'Null: the stream was never started' }),
  ended: unixMs,
  peak: intervalCountSchema.nullable().meta({
    description: 'The most viewers at once, when that was first; null: no count was told',
  }),
  average: z.number().min(0).meta({ description: 'Viewers, over the whole show' }),
  uniqueViewers: whole.meta({ description: 'Viewers who were given a token of this stream' }),
  minutesWatched: z.number().min(0).meta({ description: 'By all viewers together' }),
  audience: z
    .array(intervalCountSchema)
    .max(REPORT_POINTS)
    .meta({ description: 'In the order of time; of a stretch the most viewers in it' }),
  quizzes: z.array(quizReportSchema).meta({ description: 'In the order they were published' }),
  rounds: z.array(roundReportSchema).meta({ description: 'In the order they were asked for' }),
  chat: chatReportSchema,
  fairness: fairnessSchema.nullable().meta({ description: 'Null: nobody answered anything' }),
  recording: z.object({
    hls_url: z.string().nullable().meta({ description: 'Where the show plays; null: nowhere' }),
  }),
});

/** What a show was: worked out once it is over. */
export const reportSchema = z
  .discriminatedUnion('state', [workingSchema, readySchema, failedSchema])
  .meta({ id: 'Report', examples: [{ state: 'working', done: 0.4 }] });
export type Report = z.infer<typeof reportSchema>;
export type ReadyReport = z.infer<typeof readySchema>;
