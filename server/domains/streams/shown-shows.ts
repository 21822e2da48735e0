import { LRUCache } from 'lru-cache';
import type { ShownShow } from '../../../protocol/show-page.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { streamProcedures } from './streams-sql.ts';

export interface ShownShowsDeps {
  readonly store: Pick<Calls<typeof streamProcedures>, 'findStream'>;
  readonly nowMs: () => number;
}

/** A read of a show, pending or finished. */
interface Read {
  readonly show: Promise<ShownShow | null>;
  readonly atMs: number;
}

/** Pages show a change of a show after at most this time. */
const REFRESH_MS = 2_000;
/** Cached shows: about 5 KB each at most. */
const SHOWS_MAX = 1_000;

/** The shows of viewer pages: many viewers open a page at once, so each show is read once in 2 s. */
export class ShownShows {
  readonly #reads = new LRUCache<string, Read>({ max: SHOWS_MAX });

  constructor(private readonly deps: ShownShowsDeps) {}

  /** The show of a stream; null: there is none, or the database is unavailable. */
  read(id: string): Promise<ShownShow | null> {
    const atMs = this.deps.nowMs();
    const cached = this.#reads.get(id);
    if (cached && atMs - cached.atMs < REFRESH_MS) return cached.show;
    const show = this.#readUncached(id);
    this.#reads.set(id, { show, atMs });
    return show;
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
