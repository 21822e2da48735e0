import { intervalAt } from '../../protocol/interval.ts';
import { LIVE_PAST_INTERVALS, type LiveState } from '../../protocol/live.ts';
import {
  type ConnectionEnvironment,
  ReconnectingEventStream,
} from '../connection/reconnecting-event-stream.ts';
import { ExternalStore } from '../ui/external-store.ts';
import { appendInterval, continuedBy, EMPTY_LOG, type ShowLog } from './show-log.ts';

/** The state of a live show on a page. */
export interface LiveSnapshot {
  /** null: not received yet. */
  readonly state: LiveState | null;
  readonly log: ShowLog;
  /** Whether the connection is up, so that the state is current. */
  readonly isConnected: boolean;
}

/** Callbacks of one connection. */
export interface LiveShowEvents {
  readonly onState: (data: string) => void;
  readonly onInterval: (data: string) => void;
  /** The connection ended. */
  readonly onClose: () => void;
}

/** The browser functions that LiveShow uses. */
export interface LiveShowEnvironment extends ConnectionEnvironment {
  /** @param from the first interval to receive; null: from now on. @returns closes it */
  readonly open: (from: number | null, events: LiveShowEvents) => () => void;
}

/** Batches listener calls: after a suspension, minutes of intervals arrive at once. */
const BATCH_MS = 20;
/** After this time no node has the earlier role of the member in its cache. */
const CONNECTED_MIN_MS = 1_000;
/** Spreads the calls of pages over this time: after a drain all reconnect at once. */
const CONNECTED_SPREAD_MS = 2_000;

/**
 * A live show over a connection that may be lost: reports a loss within 2 s, reconnects, and
 * receives the intervals it missed.
 */
export class LiveShow extends ExternalStore<LiveSnapshot> {
  readonly #environment: LiveShowEnvironment;
  readonly #stream: ReconnectingEventStream;
  readonly #onConnected: () => void;
  #cancelNotification: (() => void) | null = null;
  #cancelConnected = () => {};

  /** @param onConnected called once for each connection, 1 to 3 s after it */
  constructor(environment: LiveShowEnvironment, onConnected: () => void) {
    super({ state: null, log: EMPTY_LOG, isConnected: false });
    this.#environment = environment;
    this.#onConnected = onConnected;
    this.#stream = new ReconnectingEventStream({
      environment,
      open: (received, ended) => this.#open(received, ended),
      onLost: () => {
        this.#cancelConnected();
        if (this.snapshot.isConnected) this.update({ ...this.snapshot, isConnected: false });
      },
    });
  }

  /** Connects. @returns disconnects */
  start(): () => void {
    const stop = this.#stream.start();
    return () => {
      stop();
      this.#cancelConnected();
      this.#cancelNotification?.();
      this.#cancelNotification = null;
    };
  }

  #open(received: (isProof?: boolean) => void, ended: () => void): () => void {
    const { lastInterval } = this.snapshot.log;
    let hasState = false;
    let hasInterval = false;
    return this.#environment.open(lastInterval === null ? null : lastInterval + 1, {
      onState: (data) => {
        received();
        const state: LiveState = JSON.parse(data);
        const isTooOld =
          lastInterval !== null && intervalAt(state.now) - lastInterval > LIVE_PAST_INTERVALS;
        // The service sends no older intervals: the history of the page loads what was missed.
        const log = isTooOld && !hasState && !hasInterval ? EMPTY_LOG : this.snapshot.log;
        hasState = true;
        const isNew = !this.snapshot.isConnected;
        this.update({ state, log, isConnected: true });
        if (isNew) this.#scheduleConnected();
      },
      // Intervals alone do not prove that the state is current.
      onInterval: (data) => {
        received(false);
        const next = JSON.parse(data);
        const { log } = this.snapshot;
        // The connection may end before its first state, and the state may be half a second old.
        const before = hasInterval ? log : continuedBy(log, next.interval);
        hasInterval = true;
        this.update({ ...this.snapshot, log: appendInterval(before, next) });
      },
      onClose: ended,
    });
  }

  #scheduleConnected(): void {
    const { after, random } = this.#environment;
    const delayMs = CONNECTED_MIN_MS + random() * CONNECTED_SPREAD_MS;
    this.#cancelConnected = after(delayMs, this.#onConnected);
  }

  protected override notify(): void {
    this.#cancelNotification ??= this.#environment.after(BATCH_MS, () => {
      this.#cancelNotification = null;
      super.notify();
    });
  }
}
