import { z } from 'zod';
import { type ChatElement, type Chats, chatElementSchema, type FeedEvent } from './feed.ts';
import { MESSAGE_KINDS, type MessageKind } from './moderation.ts';
import { intervalParameter, pageLimit } from './query.ts';
import { wholeNumber } from './text.ts';

/** Most intervals in one call: 10 minutes. */
export const HISTORY_INTERVALS = 2_400;

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
/** A sent event without its interval. */
export type LoggedEvent = Omit<SentEvent, 'interval'>;

/** The events of an interval that the log of a show contains: none that viewers sent. */
export function loggedEvents(events: readonly FeedEvent[]): LoggedEvent[] {
  return events.flatMap(({ type, data }) => {
    if (type === 'view-count') return [];
    if (type !== 'chats') return [{ type, data }];
    const { purchases, discounts } = data as Chats;
    return purchases.length > 0 || discounts > 0 ? [{ type, data: { purchases, discounts } }] : [];
  });
}
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

/** The kind of a chat message by the member of a `chats` event that contains it. */
const KIND_BY_MEMBER = {
  messages: 'message',
  questions: 'question',
  greetings: 'greeting',
  cheers: 'cheer',
  purchases: 'purchase',
} as const satisfies Partial<Record<keyof Chats, MessageKind>>;
const MEMBERS = Object.keys(KIND_BY_MEMBER) as (keyof typeof KIND_BY_MEMBER)[];

/** A chat message of any kind. */
export interface ChatMessage extends ChatElement {
  readonly kind: MessageKind;
}

/** The messages of a `chats` event in the order of arrival. */
export function messagesOf(chats: Chats): ChatMessage[] {
  return MEMBERS.flatMap((member) =>
    chats[member].map((message) => ({ ...message, kind: KIND_BY_MEMBER[member] })),
  ).sort((a, b) => a.at - b.at);
}

/** The member of a `chats` event that contains messages of a kind. */
export function memberOf(kind: MessageKind): keyof typeof KIND_BY_MEMBER {
  return MEMBERS.find((member) => KIND_BY_MEMBER[member] === kind) ?? 'messages';
}

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
