import { intervalAt } from '../../../protocol/interval.ts';
import { MESSAGE_ID } from '../../../protocol/limits.ts';
import type { StoredChatMessage } from '../../../protocol/moderation.ts';
import type { LargeOperations } from '../../auth/large-operations.ts';
import { ownStreamInput, type StudioCall } from '../../auth/studio-handler.ts';
import type { Step } from '../../platform/pace.ts';
import type { idempotencyProcedures } from '../../storage/sql/idempotency.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { OwnStream } from '../streams/streams-sql.ts';
import {
  messageNotSent,
  type SearchedPage,
  type sentMessageProcedures,
} from './sent-message-sql.ts';

export interface MessageSearchDeps {
  readonly store: Calls<typeof sentMessageProcedures> &
    Pick<Calls<typeof idempotencyProcedures>, 'isIdempotencyKeyUsed'>;
  readonly messageSearches: Pick<LargeOperations, 'run'>;
}

/** Which message, and when it arrived, Unix ms. */
type MessageReference = Pick<StoredChatMessage, 'id' | 'at'>;

// In intervals. A message is sealed in its interval of arrival, in an earlier one when sealing is late,
// or in a later one; purchases beyond 50 an interval wait longer.
const SEARCH_RADIUS = 240;
/** Sealing is seldom later. Most searches that begin this long before the arrival end with their first page. */
const USUAL_DELAY = 4;

/**
 * Finds the message of a request as viewers received it, so that a client cannot forge its text. It searches
 * before the write, in turns and pages: 25 MB of intervals in the transaction of all writes, which ran twice
 * when nothing was found, took it from the answers of all accounts.
 * @returns null for a repeat: the write returns the stored response
 * @throws DomainError `not-found`
 * @throws RateLimited and Unavailable like `LargeOperations`
 */
export async function findSentMessage(
  { store, messageSearches }: MessageSearchDeps,
  call: StudioCall,
  message: MessageReference,
): Promise<StoredChatMessage | null> {
  const { idempotency } = call;
  if (idempotency && (await store.isIdempotencyKeyUsed(idempotency))) return null;
  if (!MESSAGE_ID.test(message.id)) throw messageNotSent();
  const own = ownStreamInput(call);
  const found = await messageSearches.run(call, (step) => search(store, own, message, step));
  if (!found) throw messageNotSent();
  return found;
}

async function search(
  store: MessageSearchDeps['store'],
  own: OwnStream,
  { id, at }: MessageReference,
  step: Step,
): Promise<StoredChatMessage | null> {
  const arrival = intervalAt(at);
  const first = arrival - USUAL_DELAY;
  const ranges = [
    { from: first, to: arrival + SEARCH_RADIUS },
    { from: arrival - SEARCH_RADIUS, to: first - 1 },
  ];
  for (const { from, to } of ranges) {
    let next: number | null = from;
    while (next !== null) {
      const input = { ...own, id, from: next, to };
      const page: SearchedPage = await step(() => store.searchSentMessage(input));
      if (page.message) return page.message;
      next = page.next;
    }
  }
  return null;
}
