import { networkOf } from '../../http/address.ts';
import type { TaskOwner } from '../../platform/turn-limiter.ts';
import { TurnLimiter } from '../../platform/turn-limiter.ts';
import type { SealedBody } from './sealed-sql.ts';
import type { FeedStore, PageRead } from './stored-intervals.ts';

/**
 * Most pages of old intervals that are read at once. Anybody may read old intervals: 1,500 event streams a second,
 * whose pages were all read at once, made most token requests and studio requests miss their deadline.
 */
export const READS_MAX = 4;
/** Most reads that wait for the turn of their network; more get 503. At 1,000 pages a second, 500 take half a second. */
export const READS_QUEUED_MAX = 500;
/** Most further reads of a client that wait; more get 503. */
export const READS_OF_CLIENT_MAX = 128;
/** Most reads that run or wait; more of clients that have some already get 503. */
export const READS_TOTAL_MAX = 2_000;

/**
 * Limits concurrent reads of pages by all threads of the node together. Networks take turns, in a network its
 * clients, and for a client its streams: 600 connections of one viewer filled a queue that all shared. Reads of the
 * same page all end with the first of them, but each keeps its turn, so that no client puts a page off for others.
 */
export function limitPageReads<S extends FeedStore>(store: S): S {
  const limiter = new TurnLimiter(
    {
      ...{ activeMax: READS_MAX, queuedMax: READS_QUEUED_MAX },
      ...{ queuedOfMemberMax: READS_OF_CLIENT_MAX, totalMax: READS_TOTAL_MAX },
    },
    'Too many older intervals are being read at once.',
  );
  const sharedReads = new Map<string, SharedRead>();
  const readSealed: FeedStore['readSealed'] = async (page) => {
    const { streamId, from, to, limit, bytesMax } = page;
    const key = `${streamId} ${from} ${to} ${limit} ${bytesMax}`;
    const read = sharedReads.get(key) ?? new SharedRead(() => store.readSealed(page));
    sharedReads.set(key, read);
    read.readers++;
    try {
      return await Promise.race([read.result, limiter.run(ownerOf(page), () => read.run())]);
    } finally {
      if (--read.readers === 0) sharedReads.delete(key);
    }
  };
  return { ...store, readSealed };
}

/** A read of a page for all that wait for it. */
class SharedRead {
  readers = 0;
  private readonly settled = Promise.withResolvers<SealedBody[]>();
  private isStarted = false;

  constructor(private readonly read: () => Promise<SealedBody[]>) {
    // Each reader gets the error of its own turn.
    this.settled.promise.catch(() => {});
  }

  get result(): Promise<SealedBody[]> {
    return this.settled.promise;
  }

  /** Reads the page, unless another reader did. */
  run(): Promise<SealedBody[]> {
    if (!this.isStarted) {
      this.isStarted = true;
      this.read().then(this.settled.resolve, this.settled.reject);
    }
    return this.result;
  }
}

/** Reads of unknown clients are in one group, as those of one client. */
function ownerOf({ streamId, client }: PageRead): TaskOwner {
  const member = client ?? '';
  return { group: networkOf(member) ?? member, member, subject: streamId };
}
