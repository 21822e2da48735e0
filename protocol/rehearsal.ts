import { z } from 'zod';
import { unixMs, uuid } from './text.ts';

/** Most synthetic viewers of one rehearsal. */
export const REHEARSAL_VIEWERS_MAX = 500;
/** Most rehearsals whose viewers one node sends at once. */
export const REHEARSALS_PER_NODE_MAX = 4;
/** Most rehearsals of an account, with those that are being removed. */
export const REHEARSALS_PER_ACCOUNT_MAX = 20;
/** After this long a rehearsal ends by itself: 4 hours. */
export const REHEARSAL_LENGTH_MS = 4 * 3_600_000;
/** After this long nothing is kept of it: 24 hours. */
export const REHEARSAL_RETENTION_MS = 24 * 3_600_000;
/** Most quizzes of which a rehearsal tells, the newest. */
export const REHEARSED_QUIZZES_MAX = 50;
/** Most that viewers may lag. */
export const REHEARSAL_LATENCY_MAX_MS = 10_000;
/** More than this of all requests lost is no net any more. */
export const REHEARSAL_LOSS_MAX = 0.5;

const share = (of: string) => z.number().min(0).max(1).meta({ description: of });

const settings = {
  viewers: z
    .int()
    .min(1)
    .max(REHEARSAL_VIEWERS_MAX)
    .meta({ description: 'Synthetic viewers, of whom some are away at times' }),
  latencyMs: z.int().min(0).max(REHEARSAL_LATENCY_MAX_MS).meta({
    description:
      'How much later than sent viewers see what happens, ms; half to one and a half of it',
  }),
  lossShare: z
    .number()
    .min(0)
    .max(REHEARSAL_LOSS_MAX)
    .meta({ description: 'Share of requests that are lost, on the way there or back' }),
  botShare: share('Share of viewers that answer 50 to 300 ms after they see a quiz'),
  lateShare: share('Share of answers that are sent after the close'),
};

/** A crowd to rehearse with. */
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

const count = (description: string) => z.int().min(0).meta({ description });

/** What became of a quiz in a rehearsal. */
const rehearsedQuizSchema = z.object({
  id: uuid,
  question: z.string(),
  acknowledged: count('Viewers whose answer was acknowledged'),
  refusedLate: count('Viewers whose answer came after the close'),
  counted: z
    .int()
    .min(0)
    .nullable()
    .meta({ description: 'Answers in its results, of others too; null before them' }),
});

/** What synthetic viewers say of the service. */
export const crowdFiguresSchema = z
  .object({
    present: count('Viewers who are here'),
    requests: count('Answers of the service, to whatever they asked'),
    lost: count('Requests that were lost on purpose'),
    answers: z.object({
      acknowledged: count('Answers to quizzes that were acknowledged, one of a viewer to a quiz'),
      refusedLate: count('Answers that were refused because they came after the close'),
      unknown: count('Answers of which nobody knows what became: every try was lost'),
    }),
    quizzes: z
      .array(rehearsedQuizSchema)
      .max(REHEARSED_QUIZZES_MAX)
      .meta({ description: 'The newest quizzes, in the order they were asked' }),
    checks: count('How often a number of the service was compared with their own books'),
    mismatch: z
      .string()
      .nullable()
      .meta({ description: 'The first number that did not fit; null: all of them did' }),
  })
  .meta({ id: 'CrowdFigures' });
export type CrowdFigures = z.infer<typeof crowdFiguresSchema>;
export type RehearsedQuiz = z.infer<typeof rehearsedQuizSchema>;

export const REHEARSAL_STATES = ['running', 'over', 'lost'] as const;

/** A rehearsal of a show. */
export const rehearsalSchema = z
  .object({
    streamId: uuid.meta({ description: 'The hidden stream; it is in no list' }),
    rehearsalOf: uuid.meta({ description: 'The stream that is rehearsed' }),
    state: z.enum(REHEARSAL_STATES).meta({
      description:
        'over: the hidden stream has ended; lost: the node that sent the viewers is gone, and they with it',
    }),
    settings: z.object(settings),
    crowd: crowdFiguresSchema.nullable().meta({ description: 'null until they have told first' }),
    created: unixMs,
    endsAt: unixMs.meta({ description: 'When it ends by itself' }),
    ended: unixMs.nullable().meta({ description: 'When its viewers left' }),
    removedAt: unixMs.meta({ description: 'When nothing is kept of it any more, unless before' }),
  })
  .meta({ id: 'Rehearsal' });
export type Rehearsal = z.infer<typeof rehearsalSchema>;
