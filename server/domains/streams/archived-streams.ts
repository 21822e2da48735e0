import { LRUCache } from 'lru-cache';
import { atMostEntries } from '../../platform/cache-size.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { streamProcedures } from './streams-sql.ts';

export interface ArchivedStreamsOptions {
  readonly store: Pick<Calls<typeof streamProcedures>, 'archivedAmong'>;
  readonly nowMs: () => number;
}

/** About 10 MB of ids. */
const STREAMS_MAX = 100_000;
/** SQLite looks up 1,000 streams in about 2 ms. */
const STREAMS_PER_READ = 1_000;

/**
 * The archived streams among those that viewers use on this node (SPEC S-21). A stream stays archived,
 * so each is found once. Viewers of a stream never wait for the database: a stream that is not known as
 * archived counts as not archived until the next refresh.
 */
export class ArchivedStreams {
  readonly #archived = new LRUCache<string, true>(atMostEntries(STREAMS_MAX));
  /** Streams that viewers used since the last refresh, and that were not archived then. */
  #used = new Set<string>();

  constructor(private readonly options: ArchivedStreamsOptions) {}

  /** Whether a stream is known as archived. The next refresh includes a stream that is not. */
  has(streamId: string): boolean {
    if (this.#archived.get(streamId)) return true;
    if (this.#used.size < STREAMS_MAX) this.#used.add(streamId);
    return false;
  }

  /** Finds the archived streams among those used since the last call. @throws Unavailable */
  async refresh(): Promise<void> {
    const used = [...this.#used];
    this.#used = new Set();
    for (let at = 0; at < used.length; at += STREAMS_PER_READ) {
      const ids = used.slice(at, at + STREAMS_PER_READ);
      const archived = await this.options.store.archivedAmong({ ids, nowMs: this.options.nowMs() });
      for (const id of archived) this.#archived.set(id, true);
    }
  }
}
