import type { Logger } from 'pino';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { Clock } from '../../platform/clock.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { countIsDue, type ViewCountEvents } from '../presence/view-count-events.ts';
import type { MemoryFeedLog } from './feed-log-memory.ts';
import type { Transient, ViewerChats } from './interval-body.ts';
import type { sealedProcedures } from './sealed-sql.ts';
import type { SealingProcedures } from './sealing-sql.ts';
import type { TransientSource } from './transient-source.ts';

export interface SealerOptions {
  readonly clock: Clock;
  readonly store: Pick<
    Calls<typeof sealedProcedures & SealingProcedures>,
    'sealInterval' | 'readWatermark' | 'readSealedOfAll'
  >;
  readonly log: MemoryFeedLog;
  readonly transients: TransientBuffer;
  readonly logger: Logger;
  /** Called with the time from the end of an interval until it could be served, in ms. */
  readonly onSealed: (latencyMs: number) => void;
}

/** How long `stop` retries to seal the last interval after its end. */
const LAST_SEALING_MS = 1_000;
const RETRY_MS = 20;

/**
 * Seals the intervals of a service that is one process, each as soon as it has ended: collects the
 * transient parts, runs the sealing transaction, and only then serves the interval (F-13). After a
 * failure the next tick retries; the begin and the end of a failure are logged once.
 */
export class Sealer {
  private timer: Timer | null = null;
  private running: Promise<void> | null = null;
  private failing = false;
  private stopped = false;

  constructor(private readonly options: SealerOptions) {}

  /** Seals each interval when it ends, until `stop`. */
  start(): void {
    const { clock, log } = this.options;
    const tick = () => {
      // Read the clock once: an interval that ends between two reads would wait a tick.
      const nowMs = clock.nowMs();
      this.timer = runtime.setTimeout(tick, intervalStartMs(intervalAt(nowMs) + 1) - nowMs);
      log.failOverdue(nowMs);
      void this.seal();
    };
    tick();
  }

  /**
   * Seals the current interval with everything accepted before (C-11), then stops. Retries a failed
   * sealing for a second.
   */
  async stop(): Promise<void> {
    if (this.timer) await this.sealCurrent();
    this.stopped = true;
    if (this.timer) runtime.clearTimer(this.timer);
    await this.running;
  }

  /** How far sealing lags, in ms: 0 when every ended interval is sealed. */
  lagMs(): number {
    const { clock, log } = this.options;
    return Math.max(0, (intervalAt(clock.nowMs()) - 1 - log.watermark()) * INTERVAL_MS);
  }

  /** Seals every interval that has ended. Joins a sealing under way. */
  seal(): Promise<void> {
    this.running ??= this.sealEnded().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  private async sealCurrent(): Promise<void> {
    const { clock, log } = this.options;
    const current = intervalAt(clock.nowMs());
    const endMs = intervalStartMs(current + 1);
    while (log.watermark() < current && clock.nowMs() < endMs + LAST_SEALING_MS) {
      await runtime.sleep(Math.max(RETRY_MS, endMs - clock.nowMs()));
      await this.seal();
    }
  }

  // A commit may take longer than an interval: then the interval that ended meanwhile follows.
  private async sealEnded(): Promise<void> {
    const { clock, log } = this.options;
    while (!this.stopped) {
      const nowMs = clock.nowMs();
      const ended = intervalAt(nowMs) - 1;
      if (ended <= log.watermark() || !(await this.trySeal(ended, nowMs))) return;
    }
  }

  /** @returns whether it succeeded */
  private async trySeal(ended: number, nowMs: number): Promise<boolean> {
    const { clock, log, logger } = this.options;
    try {
      if (this.failing) await this.recover();
      if (ended > log.watermark()) await this.sealTo(ended, nowMs);
      this.options.onSealed(clock.nowMs() - intervalStartMs(ended + 1));
      if (this.failing) logger.info({ interval: ended }, 'sealing has resumed');
      this.failing = false;
      return true;
    } catch (error) {
      if (!this.failing) logger.error({ err: error, interval: ended }, 'sealing failed');
      this.failing = true;
      return false;
    }
  }

  private async sealTo(interval: number, nowMs: number): Promise<void> {
    const { store, log, logger } = this.options;
    const after = log.watermark();
    const transients = this.options.transients.collect(after + 1, interval);
    const sealing = await store.sealInterval({ after, interval, nowMs, transients });
    // No other process seals, so an earlier sealing was committed and its reply lost.
    if (sealing.outcome !== 'sealed')
      throw new Error(`intervals after ${after} are sealed already`);
    if (sealing.eventLogError) {
      logger.error({ interval }, `webhook events were not logged: ${sealing.eventLogError}`);
    }
    this.options.transients.markSealed();
    log.publishSealed(interval, sealing.bodies);
  }

  // A failed sealing may have been committed, and only its reply lost: read it from the database.
  private async recover(): Promise<void> {
    const { store, log, transients } = this.options;
    const from = log.watermark() + 1;
    const to = await store.readWatermark({});
    if (to < from) return;
    const { bodies } = await store.readSealedOfAll({ from, to });
    transients.markSealed();
    log.publishSealed(to, bodies);
  }
}

export interface TransientBufferOptions {
  readonly source: TransientSource;
  readonly counts: ViewCountEvents;
  /** Ids of streams whose feed is read when this interval ends. */
  readonly activeStreams: (interval: number) => Iterable<string>;
}

/**
 * The transient parts of the interval that is being sealed. A sealing may fail and be retried: the
 * retry gets the same posts, so that none is lost, and newer view counts (F-26).
 */
export class TransientBuffer {
  private chats: Map<string, ViewerChats> | null = null;

  constructor(private readonly options: TransientBufferOptions) {}

  /** Returns the parts for a sealing of the intervals from `from` to `to`. */
  collect(from: number, to: number): Transient[] {
    const { source, counts, activeStreams } = this.options;
    this.chats ??= source.drain();
    const { chats } = this;
    const counted = countIsDue(from, to) ? counts.take(to, activeStreams(to)) : new Map();
    return [...new Set([...counted.keys(), ...chats.keys()])].map((streamId) => ({
      streamId,
      viewCount: counted.get(streamId) ?? null,
      chats: chats.get(streamId) ?? null,
    }));
  }

  /** The parts that `collect` returned last are sealed; discards them. */
  markSealed(): void {
    this.chats = null;
    this.options.counts.markSealed();
  }
}
