import type { EVENT_TYPES, FeedEvent } from '../../protocol/feed.ts';

/** An event of a type that the interface defines. */
export type EventOf<Type extends (typeof EVENT_TYPES)[number]> = Extract<FeedEvent, { type: Type }>;

/** Whether an event has this type. Producers cannot use types that the interface defines. */
export function isOf<Type extends (typeof EVENT_TYPES)[number]>(
  event: FeedEvent,
  type: Type,
): event is EventOf<Type> {
  return event.type === type;
}
