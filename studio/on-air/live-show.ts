import type { LiveState } from '../../protocol/live.ts';
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
export interface LiveBrowser {
  /** @param from the first interval to be told */
  readonly open: (from: number | null) => LiveSource;
  /** @returns what calls it off */
  readonly after: (ms: number, then: () => void) => () => void;
  readonly random: () => number;
}

/** The service tells the state twice a second; silence of this length is a line that is lost. */
const SILENT_MS = 1_750;
const AGAIN_MS = 500;
const AGAIN_MAX_MS = 4_000;

/**
 * A show as it goes, over a line that may be lost: then it says so within 2 s, and gets a new line
 * and what was missed on it.
 */
export class LiveShow {
  readonly #browser: LiveBrowser;
  readonly #listeners = new Set<() => void>();
  #snapshot: LiveSnapshot = { state: null, record: EMPTY_RECORD, isHeard: false };
  #source: LiveSource | null = null;
  #tries = 0;
  #callOff = () => {};

  constructor(browser: LiveBrowser) {
    this.#browser = browser;
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
    this.#open();
    return () => {
      this.#callOff();
      this.#source?.close();
      this.#source = null;
    };
  }

  #open(): void {
    const { interval } = this.#snapshot.record;
    const source = this.#browser.open(interval === null ? null : interval + 1);
    this.#source = source;
    source.onState = (data) => {
      this.#tries = 0;
      this.#hear({ state: JSON.parse(data) });
    };
    source.onInterval = (data) =>
      this.#hear({ record: withInterval(this.#snapshot.record, JSON.parse(data)) });
    source.onEnd = () => this.#lose();
    this.#wait();
  }

  #hear(part: Partial<LiveSnapshot>): void {
    // Intervals alone are no sign that the state is how it is.
    const isHeard = this.#snapshot.isHeard || part.state !== undefined;
    if (part.state !== undefined) this.#wait();
    this.#tell({ ...this.#snapshot, ...part, isHeard });
  }

  #wait(): void {
    this.#callOff();
    this.#callOff = this.#browser.after(SILENT_MS, () => this.#lose());
  }

  #lose(): void {
    this.#source?.close();
    this.#source = null;
    if (this.#snapshot.isHeard) this.#tell({ ...this.#snapshot, isHeard: false });
    const mostMs = Math.min(AGAIN_MS * 2 ** this.#tries++, AGAIN_MAX_MS);
    this.#callOff();
    this.#callOff = this.#browser.after(mostMs * (0.5 + this.#browser.random() / 2), () =>
      this.#open(),
    );
  }

  #tell(snapshot: LiveSnapshot): void {
    this.#snapshot = snapshot;
    for (const listener of this.#listeners) listener();
  }
}
