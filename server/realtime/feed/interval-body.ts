import type { ChatElement, Chats } from '../../../protocol/feed.ts';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import type { ViewCount } from '../../../protocol/view-counts.ts';
import type { OutboxRow } from './outbox-sql.ts';

/** What viewers posted in an interval: the members of `chats` that do not come from the producer. */
export type ViewerChats = Omit<Chats, 'purchases' | 'discounts'>;

/** The parts of an interval of one stream that are in memory until it is sealed. */
export interface Transient {
  readonly streamId: string;
  readonly viewCount: ViewCount | null;
  readonly chats: ViewerChats | null;
}

/** An event that sealing itself causes, such as quiz results; `data` is JSON. */
export type ResultEvent = Pick<OutboxRow, 'streamId' | 'type' | 'data'>;

const NO_CHATS: ViewerChats = { messages: [], questions: [], greetings: [], cheers: [], hearts: 0 };

/** The body of an interval without events; it is never stored. */
export function emptyBody(interval: number): string {
  return `{"interval":${interval},"events":[]}`;
}

/**
 * Composes the body of an interval of one stream. The order of events is: view count, chats, outbox
 * events as they were recorded, results. Purchases and discounts are part of the chats event; of the
 * purchases only the first 50 are included (F-14). Of `product` events only the last one is included:
 * each has the whole state, and each purchase may cause one.
 * @returns the body, null when there are no events; and the numbers of the outbox events in it,
 *   which leave the outbox with this sealing (I2)
 */
export function composeInterval(
  interval: number,
  transient: Pick<Transient, 'viewCount' | 'chats'>,
  outbox: readonly OutboxRow[],
  results: readonly ResultEvent[] = [],
): { body: string | null; publishedNumbers: number[] } {
  const purchases: ChatElement[] = [];
  let discounts = 0;
  const separateEvents: string[] = [];
  let product: OutboxRow | null = null;
  const publishedNumbers: number[] = [];
  for (const row of outbox) {
    if (row.type === 'purchase') {
      if (purchases.length === CHAT_SAMPLE) continue;
      purchases.push(purchaseOf(row));
    } else if (row.type === 'discount') discounts += JSON.parse(row.data).count;
    else if (row.type === 'product') product = row;
    else separateEvents.push(eventJson(row));
    publishedNumbers.push(row.number);
  }
  const events: string[] = [];
  if (transient.viewCount) {
    events.push(`{"type":"view-count","data":${JSON.stringify(transient.viewCount)}}`);
  }
  if (transient.chats || purchases.length > 0 || discounts > 0) {
    const chats: Chats = { ...(transient.chats ?? NO_CHATS), purchases, discounts };
    events.push(`{"type":"chats","data":${JSON.stringify(inSchemaOrder(chats))}}`);
  }
  if (product) separateEvents.push(eventJson(product));
  events.push(...separateEvents, ...results.map(eventJson));
  if (events.length === 0) return { body: null, publishedNumbers };
  return { body: `{"interval":${interval},"events":[${events.join(',')}]}`, publishedNumbers };
}

function eventJson({ type, data }: Pick<OutboxRow, 'type' | 'data'>): string {
  return `{"type":${JSON.stringify(type)},"data":${data}}`;
}

function purchaseOf(row: OutboxRow): ChatElement {
  const { name, text, at } = JSON.parse(row.data);
  return { id: `p${row.number}`, viewer: '', name, text, at };
}

function inSchemaOrder({ messages, questions, greetings, cheers, ...rest }: Chats): Chats {
  const { purchases, hearts, discounts } = rest;
  return { messages, questions, greetings, cheers, purchases, hearts, discounts };
}
