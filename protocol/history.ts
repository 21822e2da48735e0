import { z } from 'zod';
import { chatElementSchema } from './feed.ts';
import { HISTORY_INTERVALS, MESSAGE_KINDS } from './limits.ts';
import { intervalParameter, pageLimit } from './query.ts';
import { wholeNumber } from './text.ts';

const interval = wholeNumber;
const before = intervalParameter(
  'Return only entries before this interval; by default the newest ones',
);
const pageOf = <T extends z.ZodType>(element: T) =>
  z.object({
    results: z.array(element).describe('Newest first'),
    next: interval
      .nullable()
      .describe(
        'Pass it as `before` to read the next page, which may be empty; null after the last page',
      ),
  });

/** An event that viewers received. `view-count` is left out; of `chats` only purchases and discounts. */
export const sentEventSchema = z
  .object({ interval, type: z.string(), data: z.looseObject({}).nullable() })
  .meta({ id: 'SentEvent' });
export type SentEvent = z.infer<typeof sentEventSchema>;

export const sentLogSchema = pageOf(sentEventSchema);
export type SentLog = z.infer<typeof sentLogSchema>;
export const sentLogQuerySchema = z.object({ before, limit: pageLimit });

/** The viewer count that was published in an interval. */
export const intervalCountSchema = z
  .object({ interval, count: wholeNumber })
  .meta({ id: 'IntervalCount' });
export type IntervalCount = z.infer<typeof intervalCountSchema>;

export const audienceQuerySchema = z
  .object({
    from: intervalParameter(
      `The first interval; by default ${HISTORY_INTERVALS - 1} before \`to\``,
    ),
    to: intervalParameter(
      `The last interval; by default ${HISTORY_INTERVALS - 1} after \`from\`, or the current one`,
    ),
  })
  .refine(
    ({ from, to }) => from === undefined || to === undefined || to - from < HISTORY_INTERVALS,
    `must be at most ${HISTORY_INTERVALS} intervals`,
  );

/** A chat message that viewers received, with its interval. */
const sentMessageSchema = chatElementSchema.extend({ interval, kind: z.enum(MESSAGE_KINDS) });
export type SentMessage = z.infer<typeof sentMessageSchema>;

/** A sent chat message as members of the studio see it. */
export const loggedMessageSchema = sentMessageSchema
  .extend({ hidden: z.boolean().describe('Whether the message is hidden from viewers') })
  .meta({ id: 'LoggedMessage' });
export type LoggedMessage = z.infer<typeof loggedMessageSchema>;
export const chatLogSchema = pageOf(loggedMessageSchema);
export type ChatLog = z.infer<typeof chatLogSchema>;
export const chatLogQuerySchema = z.object({
  before,
  limit: pageLimit,
  kind: z.enum(MESSAGE_KINDS).optional().describe('Return only messages of this kind'),
});
