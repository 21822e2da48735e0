import type { LiveState } from '../../protocol/live.ts';
import { type LineBrowser, ReconnectingEventStream } from '../line/kept-line.ts';
import { EMPTY_RECORD, type ShowRecord, withInterval } from './show-record.ts';

/** What a page shows of a show that goes on. */
export interface LiveSnapshot {
  /** null: nothing was heard yet. */
  readonly state: LiveState | null;
  readonly record: ShowRecord;
  /** Whether the service was heard of just now: what is shown is how it is. */
  readonly isHeard: boolean;
}

/** What is used of an `EventSource`. */
export interface LiveSource {
  onState: (data: string) => void;
  onInterval: (data: string) => void;
  /** It will not come back by itself. */
  onEnd: () => void;
  close(): void;
}

/** What it takes of a browser. */
export interface LiveBrowser extends LineBrowser {
  /** @param from the first interval to be told */
  readonly open: (from: number | null) => LiveSource;
}

/** What comes within this time is shown together: after a sleep that is minutes of a show. */
const TOGETHER_MS = 20;

/**
 * A show as it goes, over a line that may be lost: then it says so within 2 s, and gets a new line
 * and what was missed on it.
 */
export class LiveShow {
  readonly #browser: LiveBrowser;
  readonly #line: ReconnectingEventStream;
  readonly #listeners = new Set<() => void>();
  #callOffTelling: (() => void) | null = null;
  #snapshot: LiveSnapshot = { state: null, record: EMPTY_RECORD, isHeard: false };

  constructor(browser: LiveBrowser) {
    this.#browser = browser;
    this.#line = new ReconnectingEventStream({
      browser,
      open: (heard, ended) => this.#open(heard, ended),
      onLost: () => {
        if (this.#snapshot.isHeard) this.#tell({ ...this.#snapshot, isHeard: false });
      },
    });
  }

  get snapshot(): LiveSnapshot {
    return this.#snapshot;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** @returns what ends it */
  start(): () => void {
    const stop = this.#line.start();
    return () => {
      stop();
      this.#callOffTelling?.();
      this.#callOffTelling = null;
    };
  }

  #open(heard: () => void, ended: () => void): () => void {
    const { interval } = this.#snapshot.record;
    const source = this.#browser.open(interval === null ? null : interval + 1);
    source.onState = (data) => {
      heard();
      this.#tell({ ...this.#snapshot, state: JSON.parse(data), isHeard: true });
    };
    // Intervals alone are no sign that the state is how it is.
    source.onInterval = (data) => {
      const record = withInterval(this.#snapshot.record, JSON.parse(data));
      this.#tell({ ...this.#snapshot, record });
    };
    source.onEnd = ended;
    return () => source.close();
  }

  #tell(snapshot: LiveSnapshot): void {
    this.#snapshot = snapshot;
    this.#callOffTelling ??= this.#browser.after(TOGETHER_MS, () => {
      this.#callOffTelling = null;
      for (const listener of this.#listeners) listener();
    });
  }
}
