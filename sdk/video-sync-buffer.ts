import { INTERVAL_MS, intervalAt } from '../protocol/interval.ts';
import type { ApiClient } from './api-client.ts';
import type { Environment } from './environment.ts';
import { IntervalFetcher } from './interval-fetcher.ts';
import { SkippedEvents } from './skipped-events.ts';
import type { EventBuffer, EventsInterval, Picture, PlaybackListener } from './types.ts';

const TICK_MS = 50;
// Wait this long for a picture that is loading; after that it counts as none.
const NO_POSITION_MS = 5_000;
// Players report positions with jitter: ignore steps back of up to this many intervals.
const JITTER_INTERVALS = 4;
// A step ahead of more than this is a jump: intervals between are not shown.
const JUMP_INTERVALS = 20;
// Maximum playback rate, to tell a jump from playback in a hidden page, whose timers are late.
const MAX_PLAYBACK_RATE = 2;
// Of the feed that playback has not reached, the newest 10 minutes are kept; others are requested.
const MAX_AHEAD_INTERVALS = (10 * 60_000) / INTERVAL_MS;
// Intervals kept after they were shown: enough for a button that seeks back by 10 s.
const KEEP_SHOWN_INTERVALS = 30_000 / INTERVAL_MS;
// More missing intervals than this, as after an outage, are skipped.
const MAX_MISSING_INTERVALS = 60_000 / INTERVAL_MS;
// Missing intervals are requested this many intervals before playback reaches them.
const PREFETCH_INTERVALS = 4;

/**
 * Delays intervals of the feed until playback reaches them, and requests intervals that did not arrive
 * in the feed.
 */
export class VideoSyncBuffer implements EventBuffer {
  readonly #env: Environment;
  readonly #listener: PlaybackListener;
  readonly #fetcher: IntervalFetcher;
  readonly #pending = new Set<number>();
  readonly #buffered = new Map<number, EventsInterval>();
  readonly #skipped = new SkippedEvents();
  /** Newest interval that arrived in the feed. */
  #newestFromFeed = -Infinity;
  /** From this interval on the feed is complete: what is not buffered was skipped, or is yet to arrive. */
  #feedFrom = Infinity;
  /** Newest interval shown; null: none. */
  #lastShown: number | null = null;
  /** Newest interval that may be shown; infinite without a picture. */
  #showUntil = Infinity;
  #picture: Pick<Picture, 'wallClockMs'> | null = null;
  /** Last known position of playback, as an interval; null: not known. */
  #position: number | null = null;
  /** When that was, or when waiting for a position began, on the monotonic clock. */
  #positionAtMs = 0;
  #cancelTimer = () => {};

  /**
   * @param api reads intervals that did not arrive in the feed
   * @param shown intervals that were shown before, in order
   */
  constructor(
    env: Environment,
    api: Pick<ApiClient, 'interval'>,
    listener: PlaybackListener,
    shown: readonly EventsInterval[] = [],
  ) {
    this.#env = env;
    this.#listener = listener;
    this.#fetcher = new IntervalFetcher(env, api);
    for (const interval of shown) {
      this.#lastShown = interval.interval;
      this.#skipped.addTo(interval);
      this.push(interval);
    }
  }

  push(interval: EventsInterval): void {
    this.#newestFromFeed = interval.interval;
    this.#feedFrom = Math.min(this.#feedFrom, this.#newestFromFeed);
    this.#add(interval);
  }

  replay(): void {
    this.#newestFromFeed = -Infinity;
    this.#feedFrom = Infinity;
  }

  follow(picture: Pick<Picture, 'wallClockMs'> | null): void {
    this.#cancelTimer();
    this.#picture = picture;
    this.#position = null;
    this.#positionAtMs = this.#env.monotonicMs();
    this.#showUntil = this.#lastShown ?? -Infinity;
    if (picture) this.#tick();
    else this.#release();
  }

  stop(): void {
    this.#cancelTimer();
    this.#picture = null;
    this.#showUntil = -Infinity;
    this.#buffered.clear();
  }

  #tick(): void {
    this.#cancelTimer = this.#env.after(TICK_MS, () => this.#tick());
    const nowMs = this.#env.monotonicMs();
    const wallMs = this.#picture?.wallClockMs() ?? null;
    if (wallMs === null) {
      const hasTimedOut = nowMs - this.#positionAtMs >= NO_POSITION_MS;
      if (hasTimedOut && this.#showUntil < Infinity) this.#release();
      return;
    }
    const at = intervalAt(wallMs);
    const passed = this.#position === null ? 0 : (nowMs - this.#positionAtMs) / INTERVAL_MS;
    if (this.#isJump(at, passed)) this.#jump(at);
    this.#position = at;
    this.#positionAtMs = nowMs;
    this.#showUntil = at;
    this.#show();
    this.#fetchUntil(at + PREFETCH_INTERVALS);
    this.#prune();
  }

  /** @param passed time since the last known position, in intervals */
  #isJump(at: number, passed: number): boolean {
    if (this.#lastShown === null) return false;
    const ahead = at - (this.#position ?? this.#lastShown);
    return (
      at < this.#lastShown - JITTER_INTERVALS || ahead > JUMP_INTERVALS + MAX_PLAYBACK_RATE * passed
    );
  }

  #jump(to: number): void {
    this.#lastShown = to - 1;
    this.#listener.onJump(to);
  }

  /** From now on shows intervals as they arrive: there is no picture. */
  #release(): void {
    this.#position = null;
    this.#showUntil = Infinity;
    // A viewer who was far behind skips what is between.
    if (this.#lastShown !== null && this.#newestFromFeed - this.#lastShown > KEEP_SHOWN_INTERVALS)
      this.#jump(this.#newestFromFeed);
    this.#show();
    this.#prune();
  }

  #add(interval: EventsInterval): void {
    this.#buffered.set(interval.interval, interval);
    this.#skipped.add(interval);
    this.#show();
    this.#prune();
  }

  /** Shows buffered intervals in order, up to the first missing one. */
  #show(): void {
    if (this.#lastShown === null) {
      const first = Math.min(this.#showUntil, ...this.#buffered.keys());
      if (!Number.isFinite(first)) return;
      this.#lastShown = first - 1;
    }
    for (let next = this.#lastShown + 1; next <= this.#showUntil; next = this.#lastShown + 1) {
      const interval = this.#buffered.get(next);
      if (!interval) {
        const isMissing = next < this.#feedFrom && this.#showUntil < Infinity;
        if (isMissing && this.#showUntil - next > MAX_MISSING_INTERVALS) {
          this.#jump(this.#showUntil);
          continue;
        }
        if (isMissing || next > this.#newestFromFeed) return;
      }
      this.#lastShown = next;
      if (interval) this.#listener.onInterval(this.#skipped.addTo(interval));
    }
  }

  #fetchUntil(last: number): void {
    for (let next = (this.#lastShown ?? last) + 1; next <= last && next < this.#feedFrom; next++) {
      if (this.#buffered.has(next) || this.#pending.has(next)) continue;
      if (this.#fetcher.waitMs > 0) return;
      void this.#fetch(next);
    }
  }

  async #fetch(interval: number): Promise<void> {
    this.#pending.add(interval);
    // A failed interval is requested again if it is still needed then.
    const result = await this.#fetcher.fetchInterval(interval).catch(() => null);
    this.#pending.delete(interval);
    if (result) this.#add(result);
  }

  #prune(): void {
    const shown = this.#lastShown ?? -Infinity;
    for (const interval of this.#buffered.keys()) {
      const isNear = Math.abs(interval - shown) <= KEEP_SHOWN_INTERVALS;
      const isWaiting = interval > shown && interval >= this.#newestFromFeed - MAX_AHEAD_INTERVALS;
      if (isNear || isWaiting) continue;
      this.#buffered.delete(interval);
      this.#feedFrom = Math.max(this.#feedFrom, interval + 1);
    }
  }
}
