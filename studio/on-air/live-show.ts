import type { LiveState } from '../../protocol/live.ts';
import {
  type ConnectionEnvironment,
  ReconnectingEventStream,
} from '../connection/reconnecting-event-stream.ts';
import { appendInterval, EMPTY_LOG, type ShowLog } from './show-log.ts';

/** The state of a live show on a page. */
export interface LiveSnapshot {
  /** null: not received yet. */
  readonly state: LiveState | null;
  readonly log: ShowLog;
  /** Whether the connection is up, so that the state is current. */
  readonly isConnected: boolean;
}

/** The events of an `EventSource` that LiveShow uses. */
export interface LiveShowSource {
  onState: (data: string) => void;
  onInterval: (data: string) => void;
  /** The connection ended. */
  onClose: () => void;
  close(): void;
}

/** The browser functions that LiveShow uses. */
export interface LiveShowEnvironment extends ConnectionEnvironment {
  /** @param from the first interval to receive; null: from now on */
  readonly open: (from: number | null) => LiveShowSource;
}

/** Batches listener calls: after a suspension, minutes of intervals arrive at once. */
const BATCH_MS = 20;

/**
 * A live show over a connection that may be lost: reports a loss within 2 s, reconnects, and
 * receives the intervals it missed.
 */
export class LiveShow {
  readonly #environment: LiveShowEnvironment;
  readonly #stream: ReconnectingEventStream;
  readonly #listeners = new Set<() => void>();
  #cancelNotification: (() => void) | null = null;
  #snapshot: LiveSnapshot = { state: null, log: EMPTY_LOG, isConnected: false };

  constructor(environment: LiveShowEnvironment) {
    this.#environment = environment;
    this.#stream = new ReconnectingEventStream({
      environment,
      open: (received, ended) => this.#open(received, ended),
      onLost: () => {
        if (this.#snapshot.isConnected) this.#update({ ...this.#snapshot, isConnected: false });
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

  /** Connects. @returns disconnects */
  start(): () => void {
    const stop = this.#stream.start();
    return () => {
      stop();
      this.#cancelNotification?.();
      this.#cancelNotification = null;
    };
  }

  #open(received: () => void, ended: () => void): () => void {
    const { lastInterval } = this.#snapshot.log;
    const source = this.#environment.open(lastInterval === null ? null : lastInterval + 1);
    source.onState = (data) => {
      received();
      this.#update({ ...this.#snapshot, state: JSON.parse(data), isConnected: true });
    };
    // Intervals alone do not prove that the state is current.
    source.onInterval = (data) => {
      const log = appendInterval(this.#snapshot.log, JSON.parse(data));
      this.#update({ ...this.#snapshot, log });
    };
    source.onClose = ended;
    return () => source.close();
  }

  #update(snapshot: LiveSnapshot): void {
    this.#snapshot = snapshot;
    this.#cancelNotification ??= this.#environment.after(BATCH_MS, () => {
      this.#cancelNotification = null;
      for (const listener of this.#listeners) listener();
    });
  }
}
