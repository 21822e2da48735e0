import { z } from 'zod';
import { connectedSourceSchema, sourceEndsAtSchema } from './ingest.ts';
import { WINNERS_SENT_MAX } from './limits.ts';
import { chatStateSchema } from './moderation.ts';
import { intervalParameter } from './query.ts';
import { choiceCountsSchema } from './quizzes.ts';
import { studioQuizSchema, studioStreamSchema, winnersRoundSchema } from './studio.ts';
import { unixMs, wholeNumber } from './text.ts';
import { roundWinnerSchema } from './winners.ts';

/** How often the state of a show is sent. It also serves as a keep-alive. */
export const LIVE_STATE_MS = 500;

/** How many past intervals a client that reconnects can receive: 10 minutes. */
export const LIVE_PAST_INTERVALS = 2_400;

export const liveQuerySchema = z.object({
  interval: intervalParameter(
    'The first interval to send, at most 10 minutes back; by default the current one',
  ),
});

/** The state of a show for the studio, at one moment. */
export const liveStateSchema = z
  .object({
    now: unixMs.describe('Service time'),
    stream: studioStreamSchema,
    count: wholeNumber.nullable().describe('Current viewers; null: temporarily unknown'),
    quiz: studioQuizSchema.nullable().describe('The quiz published last; null: none was published'),
    tally: choiceCountsSchema.nullable().describe('Answers to the quiz so far, while it is open'),
    round: winnersRoundSchema.nullable().describe('The winners round requested last'),
    winners: z
      .array(roundWinnerSchema)
      .describe(
        `The first ${WINNERS_SENT_MAX} winners of that round, those with names first; empty until it is closed, and once a newer quiz is published`,
      ),
    source: connectedSourceSchema.describe('The connected video source; null: none'),
    sourceEndsAt: sourceEndsAtSchema,
    rundownRevision: wholeNumber.describe(
      'Revision of the rundown. Read the rundown again when it has increased',
    ),
    productsRevision: wholeNumber.describe(
      'Revision of the products. Read them again when it has increased',
    ),
    chat: chatStateSchema,
    chatRevision: wholeNumber.describe(
      'Increases with changes of hidden messages, restricted viewers and questions. Read them again then',
    ),
  })
  .meta({ id: 'LiveState' });
export type LiveState = z.infer<typeof liveStateSchema>;
