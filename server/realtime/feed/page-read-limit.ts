import { networkOf } from '../../http/address.ts';
import type { TaskOwner } from '../../platform/grouped-limiter.ts';
import { GroupedLimiter } from '../../platform/grouped-limiter.ts';
import type { FeedStore, PageRead } from './stored-intervals.ts';

/**
 * Most pages of old intervals that are read at once. Anybody may read old intervals: 1,500 event streams a second,
 * whose pages were all read at once, made most token requests and studio requests miss their deadline.
 */
export const READS_MAX = 4;
/** Most reads that wait for the turn of their network; more get 503. At 1,000 pages a second, 500 take half a second. */
export const READS_QUEUED_MAX = 500;
/**
 * Most reads of a client that wait behind its first `READS_MAX`; more get 503. Viewers share the read of a page, so
 * they may wait for all reads before it in the queues of its client and network: 1,512 if a network fills them.
 */
export const READS_OF_CLIENT_MAX = 8;

/**
 * Limits concurrent reads of pages by all threads of the node together. Networks take turns, in a network its
 * clients, and for a client its streams: 600 connections of one viewer filled a queue that all shared.
 */
export function limitPageReads<S extends FeedStore>(store: S): S {
  const limiter = new GroupedLimiter(
    {
      activeMax: READS_MAX,
      queuedMax: READS_QUEUED_MAX,
      queuedOfMemberMax: READS_OF_CLIENT_MAX,
    },
    'Too many older intervals are being read at once.',
  );
  const readSealed: FeedStore['readSealed'] = (page) =>
    limiter.run(ownerOf(page), () => store.readSealed(page));
  return { ...store, readSealed };
}

/** Reads of unknown clients are those of one client; they and the reads of the service itself are one group. */
function ownerOf({ streamId, client }: PageRead): TaskOwner {
  const member = client ?? '';
  return { group: networkOf(member) ?? '', member, subject: streamId };
}
