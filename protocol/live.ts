import { z } from 'zod';
import { SOURCE_KINDS, sourceHealthSchema } from './ingest.ts';
import { chatStateSchema } from './moderation.ts';
import { intervalParameter } from './query.ts';
import { choiceCountSchema } from './quizzes.ts';
import { studioQuizSchema, studioStreamSchema, winnersRoundSchema } from './studio.ts';
import { unixMs } from './text.ts';

/** How often the state of a show is told: it is the sign of life, too. */
export const LIVE_STATE_MS = 500;

/** How far back intervals are told again to who comes back: 10 minutes. */
export const LIVE_PAST_INTERVALS = 2_400;

export const liveQuerySchema = z.object({
  interval: intervalParameter(
    'From which interval on, at most 10 minutes back; from the current one by default',
  ),
});

/** A show as those see it who run it, at one moment. */
export const liveStateSchema = z
  .object({
    now: unixMs.meta({ description: "The service's time" }),
    stream: studioStreamSchema,
    count: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: 'Viewers now; null: not known at the moment' }),
    quiz: studioQuizSchema
      .nullable()
      .meta({ description: 'The quiz that was published last; null: none was' }),
    tally: z
      .record(z.string(), choiceCountSchema)
      .nullable()
      .meta({ description: 'Its answers so far, while it is open' }),
    round: winnersRoundSchema
      .nullable()
      .meta({ description: 'The winners round that was asked for last' }),
    source: z
      .object({ kind: z.enum(SOURCE_KINDS), health: sourceHealthSchema.nullable() })
      .nullable()
      .meta({ description: 'What sends the picture; null: nothing does' }),
    sourceEndsAt: unixMs.nullable().meta({
      description:
        'When the show ends by itself, as what sent the picture is gone; null: it does not',
    }),
    rundownRevision: z
      .int()
      .min(0)
      .meta({ description: 'Of the rundown: read it again when it has risen' }),
    chat: chatStateSchema,
    chatRevision: z.int().min(0).meta({
      description:
        'Rises with hidden lines, restricted viewers and questions: read them again when it has',
    }),
  })
  .meta({ id: 'LiveState' });
export type LiveState = z.infer<typeof liveStateSchema>;
