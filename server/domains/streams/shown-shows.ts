import { LRUCache } from 'lru-cache';
import type { ShownShow } from '../../../protocol/show-page.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { LiveShow, streamProcedures } from './streams-sql.ts';

export interface ShownShowsDeps {
  readonly store: Pick<Calls<typeof streamProcedures>, 'findStream' | 'listLiveShows'>;
  readonly nowMs: () => number;
}

/** A read, pending or finished. */
interface Read<Result> {
  readonly result: Promise<Result>;
  readonly atMs: number;
}

/** Pages show a change of a show after at most this time. */
const REFRESH_MS = 2_000;
/** Cached shows: about 5 KB each at most. */
const SHOWS_MAX = 1_000;
/** Shows on the start page. */
const LIVE_MAX = 20;

/** The shows of pages for viewers: many open a page at once, so each show is read once in 2 s. */
export class ShownShows {
  readonly #reads = new LRUCache<string, Read<ShownShow | null>>({ max: SHOWS_MAX });
  #live: Read<LiveShow[]> | null = null;

  constructor(private readonly deps: ShownShowsDeps) {}

  /** The show of a stream; null: there is none, or the database is unavailable. */
  read(id: string): Promise<ShownShow | null> {
    const atMs = this.deps.nowMs();
    const cached = this.#reads.get(id);
    if (cached && atMs - cached.atMs < REFRESH_MS) return cached.result;
    const result = this.#readUncached(id);
    this.#reads.set(id, { result, atMs });
    return result;
  }

  /** The live shows that the start page lists; none while the database is unavailable. */
  live(): Promise<readonly LiveShow[]> {
    const atMs = this.deps.nowMs();
    if (!this.#live || atMs - this.#live.atMs >= REFRESH_MS) {
      this.#live = { result: this.#readLive(), atMs };
    }
    return this.#live.result;
  }

  async #readLive(): Promise<LiveShow[]> {
    try {
      return await this.deps.store.listLiveShows({ limit: LIVE_MAX });
    } catch (error) {
      if (error instanceof Unavailable) return [];
      throw error;
    }
  }

  async #readUncached(id: string): Promise<ShownShow | null> {
    try {
      const row = await this.deps.store.findStream({ id });
      return row && { title: row.title, unlisted: row.unlisted, ...row.showPage };
    } catch (error) {
      // The page works without the words of its show.
      if (error instanceof Unavailable) return null;
      throw error;
    }
  }
}
