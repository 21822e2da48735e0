import { ConcurrencyLimiter } from '../../platform/concurrency-limiter.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { FeedStore } from './stored-intervals.ts';

/**
 * Reads of pages at once. Anybody may read old intervals: 1,500 event streams a second, whose pages were all
 * read at once, made most token requests and studio requests miss their deadline.
 */
const READS_MAX = 4;
/** At 1,000 pages a second the last of them waits half a second. */
const READS_QUEUED_MAX = 500;

/** Limits concurrent reads of pages by all threads of the node together; streams take turns. */
export function limitPageReads<S extends FeedStore>(store: S): S {
  const limiter = new ConcurrencyLimiter(
    READS_MAX,
    READS_QUEUED_MAX,
    'Too many older intervals are being read at once.',
  );
  const readSealed: FeedStore['readSealed'] = (page) =>
    limiter.run(page.streamId, async () => {
      try {
        return await store.readSealed(page);
      } catch (error) {
        // The others would wait for the same deadline, one after the other.
        if (error instanceof Unavailable) limiter.rejectQueued(error);
        throw error;
      }
    });
  return { ...store, readSealed };
}
