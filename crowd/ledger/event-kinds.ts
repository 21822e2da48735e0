import type { EVENT_TYPES, FeedEvent } from '../../protocol/feed.ts';

/** An event of one of the types of the interface. */
export type EventOf<Type extends (typeof EVENT_TYPES)[number]> = Extract<FeedEvent, { type: Type }>;

/** Whether an event is of this type; a producer's own types are never one of the interface. */
export function isOf<Type extends (typeof EVENT_TYPES)[number]>(
  event: FeedEvent,
  type: Type,
): event is EventOf<Type> {
  return event.type === type;
}
