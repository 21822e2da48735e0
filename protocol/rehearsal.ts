import { z } from 'zod';
import {
  REHEARSAL_LATENCY_MAX_MS,
  REHEARSAL_LOSS_MAX,
  REHEARSAL_VIEWERS_MAX,
  REHEARSED_QUIZZES_MAX,
} from './limits.ts';
import { unixMs, uuid, wholeNumber } from './text.ts';

const share = (description: string) => z.number().min(0).max(1).describe(description);

const settings = {
  viewers: z
    .int()
    .min(1)
    .max(REHEARSAL_VIEWERS_MAX)
    .describe('Number of synthetic viewers, some of whom disconnect at times'),
  latencyMs: z
    .int()
    .min(0)
    .max(REHEARSAL_LATENCY_MAX_MS)
    .describe(
      'Mean latency with which viewers see events, ms; each viewer has 0.5 to 1.5 times this latency',
    ),
  lossShare: z
    .number()
    .min(0)
    .max(REHEARSAL_LOSS_MAX)
    .describe('Share of requests that are lost, in either direction'),
  botShare: share('Share of viewers who answer 50 to 300 ms after they see a quiz, like bots'),
  lateShare: share('Share of answers that are sent after the close'),
};

/** The synthetic viewers of a rehearsal. */
export const newRehearsalSchema = z
  .strictObject({
    viewers: settings.viewers,
    latencyMs: settings.latencyMs.default(0),
    lossShare: settings.lossShare.default(0),
    botShare: settings.botShare.default(0),
    lateShare: settings.lateShare.default(0),
  })
  .meta({
    id: 'NewRehearsal',
    examples: [{ viewers: 200, latencyMs: 3000, lossShare: 0.02, botShare: 0.05, lateShare: 0.03 }],
  });
export type NewRehearsal = z.infer<typeof newRehearsalSchema>;

const count = (description: string) => wholeNumber.describe(description);

const rehearsedQuizSchema = z.object({
  id: uuid,
  question: z.string(),
  acknowledged: count('Number of viewers whose answer was acknowledged'),
  refusedLate: count('Number of viewers whose answer was rejected after the close'),
  counted: wholeNumber
    .nullable()
    .describe(
      'Number of answers in the results, including those of real viewers; null before the results',
    ),
});

/** Measurements of the synthetic viewers. */
export const crowdFiguresSchema = z
  .object({
    present: count('Connected viewers'),
    requests: count('Number of responses received'),
    lost: count('Number of requests dropped on purpose'),
    answers: z.object({
      acknowledged: count('Acknowledged answers, at most one per viewer and quiz'),
      refusedLate: count('Answers rejected because they came after the close'),
      unknown: count('Answers with unknown outcome: every attempt was lost'),
    }),
    quizzes: z
      .array(rehearsedQuizSchema)
      .max(REHEARSED_QUIZZES_MAX)
      .describe('The newest quizzes, in the order they were published'),
    checks: count("Number of comparisons of the service's figures with the viewers' own records"),
    mismatch: z
      .string()
      .nullable()
      .describe('The first figure that did not match; null: all matched'),
  })
  .meta({ id: 'CrowdFigures' });
export type CrowdFigures = z.infer<typeof crowdFiguresSchema>;
export type RehearsedQuiz = z.infer<typeof rehearsedQuizSchema>;

export const REHEARSAL_STATES = ['running', 'over', 'lost'] as const;

export const rehearsalSchema = z
  .object({
    streamId: uuid.describe('The hidden stream, which is in no list'),
    rehearsalOf: uuid.describe('The stream that is rehearsed'),
    state: z
      .enum(REHEARSAL_STATES)
      .describe(
        '`over`: the hidden stream has ended; `lost`: the node that simulated the viewers stopped',
      ),
    settings: z.object(settings),
    crowd: crowdFiguresSchema
      .nullable()
      .describe('Measurements of the viewers; null before the first report'),
    created: unixMs,
    endsAt: unixMs.describe('When the rehearsal ends automatically'),
    ended: unixMs.nullable().describe('When the rehearsal ended'),
    removedAt: unixMs.describe('When the data of the rehearsal is deleted at the latest'),
  })
  .meta({ id: 'Rehearsal' });
export type Rehearsal = z.infer<typeof rehearsalSchema>;
