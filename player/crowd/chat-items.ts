import { LINES_MAX } from '../../sdk/chat.ts';
import type { Snapshot } from '../../sdk/viewer.ts';

/** A line of the chat, of whatever kind. */
export type Line = Snapshot['lines'][number];

/** Discounts that were used between two lines. */
export interface DiscountCard {
  readonly kind: 'discount';
  readonly id: string;
  readonly count: number;
  /** The line before it; null: it was there before all of them. */
  readonly after: string | null;
}

export type ChatItem = Line | DiscountCard;

/** What the chat shows. The snapshot has discounts as a sum; here they have a place. */
export interface ChatRecord {
  readonly lines: readonly Line[];
  readonly discounts: number;
  readonly cards: readonly DiscountCard[];
}

/** @returns the chat of who has just come */
export function newRecord({ lines, discounts }: Snapshot): ChatRecord {
  return { lines, discounts, cards: [] };
}

/** @returns the same record when nothing of it changed */
export function nextRecord(before: ChatRecord, { lines, discounts }: Snapshot): ChatRecord {
  if (lines === before.lines && discounts === before.discounts) return before;
  const added = discounts - before.discounts;
  const cards = added > 0 ? withCard(before.cards, lines.at(-1)?.id ?? null, added) : before.cards;
  return { lines, discounts, cards: cards.filter(({ after }) => hasPlace(after, lines)) };
}

/** @returns lines and cards, oldest first */
export function itemsOf({ lines, cards }: ChatRecord): readonly ChatItem[] {
  if (cards.length === 0) return lines;
  const after = (id: string | null) => cards.filter((card) => card.after === id);
  return [...after(null), ...lines.flatMap((line) => [line, ...after(line.id)])];
}

/** Those that come one after another are one card. */
function withCard(
  cards: readonly DiscountCard[],
  after: string | null,
  added: number,
): readonly DiscountCard[] {
  const last = cards.at(-1);
  if (last?.after === after) return [...cards.slice(0, -1), { ...last, count: last.count + added }];
  return [...cards, { kind: 'discount', id: `discount ${after}`, count: added, after }];
}

function hasPlace(after: string | null, lines: readonly Line[]): boolean {
  // When the snapshot holds no more, the first of all is gone.
  return after === null ? lines.length < LINES_MAX : lines.some(({ id }) => id === after);
}
