import { DomainError, Unavailable } from '../../platform/errors.ts';
import type { LiveShow } from './live-sql.ts';

/** What is told to who watches a show from the studio. */
export interface LiveMoment {
  readonly nowMs: number;
  readonly show: LiveShow;
  /** Viewers; null: the tally cannot be reached. */
  readonly count: number | null;
}

export interface LiveShowsOptions {
  readonly nowMs: () => number;
  /** @throws Unavailable while the database is unavailable */
  readonly read: (id: string, producer: string, nowMs: number) => Promise<LiveShow>;
  /** @throws Unavailable while the realtime backend is unavailable */
  readonly count: (id: string) => number | Promise<number>;
  /** Calls `tick` again and again. @returns what ends it */
  readonly repeat: (tick: () => void) => () => void;
  /** A reading failed by a defect; one of a record that is unavailable is none. */
  readonly onDefect: (error: unknown) => void;
}

interface Listener {
  readonly tell: (moment: LiveMoment) => void;
  readonly gone: () => void;
}

interface Watched {
  readonly listeners: Set<Listener>;
  readonly end: () => void;
  isReading: boolean;
}

/**
 * Reads the shows that somebody has open in the studio, each once for all who have it open on this
 * node, and tells what it read. While it cannot be read nothing is told: silence is how the page
 * learns that it is cut off.
 */
export class LiveShows {
  readonly #options: LiveShowsOptions;
  readonly #watched = new Map<string, Watched>();

  constructor(options: LiveShowsOptions) {
    this.#options = options;
  }

  /** How many shows are read. */
  get size(): number {
    return this.#watched.size;
  }

  /**
   * Tells what there is now, and then again and again.
   * @param gone told when there is no such show any more: a rehearsal that was removed
   * @returns what ends it
   */
  watch(
    id: string,
    producer: string,
    tell: Listener['tell'],
    gone: Listener['gone'] = () => {},
  ): () => void {
    const listener = { tell, gone };
    const watched = this.#watched.get(id) ?? this.#begin(id, producer);
    watched.listeners.add(listener);
    void this.#tell(id, producer, watched);
    return () => {
      watched.listeners.delete(listener);
      if (watched.listeners.size > 0 || this.#watched.get(id) !== watched) return;
      watched.end();
      this.#watched.delete(id);
    };
  }

  #begin(id: string, producer: string): Watched {
    const watched: Watched = {
      listeners: new Set(),
      end: this.#options.repeat(() => void this.#tell(id, producer, watched)),
      isReading: false,
    };
    this.#watched.set(id, watched);
    return watched;
  }

  async #tell(id: string, producer: string, watched: Watched): Promise<void> {
    // One that takes longer than the time to the next is not asked for twice.
    if (watched.isReading) return;
    watched.isReading = true;
    try {
      const moment = await this.#read(id, producer);
      for (const { tell } of watched.listeners) tell(moment);
    } catch (error) {
      if (error instanceof DomainError) for (const { gone } of watched.listeners) gone();
      else if (!(error instanceof Unavailable)) this.#options.onDefect(error);
    } finally {
      watched.isReading = false;
    }
  }

  async #read(id: string, producer: string): Promise<LiveMoment> {
    const nowMs = this.#options.nowMs();
    const [show, count] = await Promise.all([
      this.#options.read(id, producer, nowMs),
      this.#count(id),
    ]);
    return { nowMs, show, count };
  }

  async #count(id: string): Promise<number | null> {
    try {
      return await this.#options.count(id);
    } catch (error) {
      if (error instanceof Unavailable) return null;
      throw error;
    }
  }
}
