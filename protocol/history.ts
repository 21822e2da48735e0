import { z } from 'zod';
import { type ChatElement, type Chats, chatElementSchema, type FeedEvent } from './feed.ts';
import { MESSAGE_KINDS, type MessageKind } from './moderation.ts';
import { intervalParameter, pageLimit } from './query.ts';

/** Most intervals of a show that one call looks at: 10 minutes in which something happened. */
export const HISTORY_INTERVALS = 2_400;

const interval = z.int().min(0);
const before = intervalParameter('Only what was before this interval; the newest by default');
const pageOf = <T extends z.ZodType>(element: T) =>
  z.object({
    results: z.array(element).meta({ description: 'The newest first' }),
    next: interval
      .nullable()
      .meta({ description: '`before` of the next page, which may be empty; null after the last' }),
  });

/** An event that viewers got, of any type but `view-count`; of `chats` what was sold. */
export const sentEventSchema = z
  .object({ interval, type: z.string(), data: z.looseObject({}).nullable() })
  .meta({ id: 'SentEvent' });
export type SentEvent = z.infer<typeof sentEventSchema>;
/** The same without its interval. */
export type LoggedEvent = Omit<SentEvent, 'interval'>;

/** What of the events of an interval is in the log of a show: nothing of what viewers sent. */
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

/** How many viewers were told of in an interval. */
export const intervalCountSchema = z
  .object({ interval, count: z.int().min(0) })
  .meta({ id: 'IntervalCount' });
export type IntervalCount = z.infer<typeof intervalCountSchema>;

export const audienceQuerySchema = z
  .object({
    from: intervalParameter(`${HISTORY_INTERVALS - 1} before \`to\` by default`),
    to: intervalParameter(
      `The last one; ${HISTORY_INTERVALS - 1} after \`from\` by default, or the current one`,
    ),
  })
  .refine(
    ({ from, to }) => from === undefined || to === undefined || to - from < HISTORY_INTERVALS,
    `must be at most ${HISTORY_INTERVALS} intervals`,
  );

/** What a line of the chat is, by the member of a `chats` event that it is in. */
const KIND_BY_MEMBER = {
  messages: 'message',
  questions: 'question',
  greetings: 'greeting',
  cheers: 'cheer',
  purchases: 'purchase',
} as const satisfies Partial<Record<keyof Chats, MessageKind>>;
const MEMBERS = Object.keys(KIND_BY_MEMBER) as (keyof typeof KIND_BY_MEMBER)[];

/** A line of the chat, of whatever kind. */
export interface ChatMessage extends ChatElement {
  readonly kind: MessageKind;
}

/** The lines of an interval, in the order they came. */
export function messagesOf(chats: Chats): ChatMessage[] {
  return MEMBERS.flatMap((member) =>
    chats[member].map((line) => ({ ...line, kind: KIND_BY_MEMBER[member] })),
  ).sort((a, b) => a.at - b.at);
}

/** The member of a `chats` event that has the lines of a kind. */
export function memberOf(kind: MessageKind): keyof typeof KIND_BY_MEMBER {
  return MEMBERS.find((member) => KIND_BY_MEMBER[member] === kind) ?? 'messages';
}

/** A line of the chat that viewers got, with its interval. */
const sentMessageSchema = chatElementSchema.extend({ interval, kind: z.enum(MESSAGE_KINDS) });
export type SentMessage = z.infer<typeof sentMessageSchema>;

/** As those see it who run the show. */
export const loggedMessageSchema = sentMessageSchema
  .extend({ hidden: z.boolean().meta({ description: 'It was taken out of the chat' }) })
  .meta({ id: 'LoggedLine' });
export type LoggedMessage = z.infer<typeof loggedMessageSchema>;
export const chatLogSchema = pageOf(loggedMessageSchema);
export type ChatLog = z.infer<typeof chatLogSchema>;
export const chatLogQuerySchema = z.object({
  before,
  limit: pageLimit,
  kind: z.enum(MESSAGE_KINDS).optional().meta({ description: 'Lines of this kind alone' }),
});
