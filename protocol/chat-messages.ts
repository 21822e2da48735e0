// Chat messages and sent events without schemas: the database threads do not load zod.

import type { ChatElement, Chats, FeedEvent } from './feed.ts';
import type { SentEvent } from './history.ts';
import type { MessageKind } from './limits.ts';

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

/** A sent event without its interval. */
export type LoggedEvent = Omit<SentEvent, 'interval'>;

/** The events of an interval for the log of a show, without those that viewers sent. */
export function loggedEvents(events: readonly FeedEvent[]): LoggedEvent[] {
  return events.flatMap(({ type, data }) => {
    if (type === 'view-count') return [];
    if (type !== 'chats') return [{ type, data }];
    const { purchases, discounts } = data as Chats;
    return purchases.length > 0 || discounts > 0 ? [{ type, data: { purchases, discounts } }] : [];
  });
}
