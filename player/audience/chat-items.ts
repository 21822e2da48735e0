import { MESSAGES_MAX } from '../../sdk/chat.ts';
import type { Snapshot } from '../../sdk/viewer.ts';

/** A chat message of any kind, as the SDK's snapshot has it. */
export type SnapshotMessage = Snapshot['messages'][number];

/** Discounts that were used between two messages. */
export interface DiscountCard {
  readonly kind: 'discount';
  readonly id: string;
  readonly count: number;
  /** The id of the message before the card; null: the card is before all messages. */
  readonly after: string | null;
}

export type ChatItem = SnapshotMessage | DiscountCard;

/** What the chat shows. The snapshot has only the sum of discounts; a card places them in time. */
export interface ChatTimeline {
  readonly messages: readonly SnapshotMessage[];
  readonly discounts: number;
  readonly cards: readonly DiscountCard[];
}

/** @returns a timeline that begins now, without cards for earlier discounts */
export function newTimeline({ messages, discounts }: Snapshot): ChatTimeline {
  return { messages, discounts, cards: [] };
}

/** @returns the timeline with the snapshot's changes; the same object when there are none */
export function updateTimeline(before: ChatTimeline, snapshot: Snapshot): ChatTimeline {
  const { messages, discounts } = snapshot;
  if (messages === before.messages && discounts === before.discounts) return before;
  const added = discounts - before.discounts;
  const after = messages.at(-1)?.id ?? null;
  const cards = added > 0 ? withDiscounts(before.cards, after, added) : before.cards;
  return { messages, discounts, cards: cards.filter((card) => isRetained(card.after, messages)) };
}

/** @returns messages and cards, oldest first */
export function timelineItems({ messages, cards }: ChatTimeline): readonly ChatItem[] {
  if (cards.length === 0) return messages;
  const cardsAfter = (id: string | null) => cards.filter((card) => card.after === id);
  return [
    ...cardsAfter(null),
    ...messages.flatMap((message) => [message, ...cardsAfter(message.id)]),
  ];
}

/** Adds discounts to the last card when no message came since, or to a new card. */
function withDiscounts(
  cards: readonly DiscountCard[],
  after: string | null,
  added: number,
): readonly DiscountCard[] {
  const last = cards.at(-1);
  if (last?.after === after) return [...cards.slice(0, -1), { ...last, count: last.count + added }];
  return [...cards, { kind: 'discount', id: `discount ${after}`, count: added, after }];
}

/** A card goes with the message before it, so that the number of cards is bounded. */
function isRetained(after: string | null, messages: readonly SnapshotMessage[]): boolean {
  // A full snapshot has lost its first message.
  return after === null ? messages.length < MESSAGES_MAX : messages.some(({ id }) => id === after);
}
