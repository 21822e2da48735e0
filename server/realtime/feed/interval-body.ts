import { type ChatElement, type Chats, chatsSchema } from '../../../protocol/feed.ts';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import type { ViewCount } from '../../../protocol/view-counts.ts';
import type { OutboxRow } from './outbox-sql.ts';

/** What viewers did in an interval: everything in `chats` that does not come from the producer. */
export type ViewerChats = Omit<Chats, 'purchases' | 'discounts'>;

/** The parts of an interval that live in memory until it is sealed. */
export interface Transient {
  readonly streamId: string;
  readonly viewCount: ViewCount | null;
  readonly chats: ViewerChats | null;
}

/** An event that comes of the sealing itself; `data` is JSON. */
export type ResultEvent = Pick<OutboxRow, 'streamId' | 'type' | 'data'>;

const QUIET: ViewerChats = { messages: [], questions: [], greetings: [], cheers: [], hearts: 0 };

/** The body of an interval in which nothing happened; it is never stored. */
export function emptyBody(interval: number): string {
  return `{"interval":${interval},"events":[]}`;
}

/**
 * The body of a sealed interval and the outbox events that are in it (I2: those and no others
 * leave the outbox): all of them, but of purchases the first 50 (F-14). Events stand in the order
 * view-count, chats, then as they were recorded; purchases and discounts join the chats event. What
 * the sealing itself brings about comes last.
 * @returns `body` null when nothing happened
 */
export function composeInterval(
  interval: number,
  transient: Pick<Transient, 'viewCount' | 'chats'>,
  waiting: readonly OutboxRow[],
  results: readonly ResultEvent[] = [],
): { body: string | null; taken: number[] } {
  const purchases: ChatElement[] = [];
  let discounts = 0;
  const own: string[] = [];
  const taken: number[] = [];
  for (const row of waiting) {
    if (row.type === 'purchase') {
      if (purchases.length === CHAT_SAMPLE) continue;
      purchases.push(purchaseOf(row));
    } else if (row.type === 'discount') discounts += JSON.parse(row.data).count;
    else own.push(ownEvent(row));
    taken.push(row.number);
  }
  const events: string[] = [];
  if (transient.viewCount) {
    events.push(`{"type":"view-count","data":${JSON.stringify(transient.viewCount)}}`);
  }
  if (transient.chats || purchases.length > 0 || discounts > 0) {
    const chats: Chats = { ...(transient.chats ?? QUIET), purchases, discounts };
    events.push(`{"type":"chats","data":${JSON.stringify(inOrder(chats))}}`);
  }
  events.push(...own, ...results.map(ownEvent));
  if (events.length === 0) return { body: null, taken };
  return { body: `{"interval":${interval},"events":[${events.join(',')}]}`, taken };
}

function ownEvent({ type, data }: Pick<OutboxRow, 'type' | 'data'>): string {
  return `{"type":${JSON.stringify(type)},"data":${data}}`;
}

function purchaseOf(row: OutboxRow): ChatElement {
  const { name, text, at } = JSON.parse(row.data);
  return { id: `p${row.number}`, viewer: '', name, text, at };
}

const MEMBERS = Object.keys(chatsSchema.shape) as (keyof Chats)[];

function inOrder(chats: Chats): Partial<Chats> {
  return Object.fromEntries(MEMBERS.map((member) => [member, chats[member]]));
}
