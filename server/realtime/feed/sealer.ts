import type { Logger } from 'pino';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { MemoryFeedLog } from './feed-log-memory.ts';
import { publishSealed } from './publish-sealed.ts';
import type { sealingProcedures } from './sealing-sql.ts';
import type { TransientBuffer } from './transient-buffer.ts';

export interface SealerOptions {
  readonly clock: Clock;
  readonly store: Pick<
    Calls<typeof sealingProcedures>,
    'sealInterval' | 'readWatermark' | 'readSealedOfAll'
  >;
  readonly log: MemoryFeedLog;
  readonly parts: TransientBuffer;
  readonly logger: Logger;
  /** Told how long after the end of its interval a body could be served, in ms. */
  readonly onSealed: (latenessMs: number) => void;
}

/**
 * Seals one interval after the other, each as soon as it has ended: takes what is in memory,
 * has the database seal it, and only then lets readers see it (F-13).
 */
export class Sealer {
  private timer: Timer | null = null;
  private running: Promise<void> | null = null;
  private failing = false;
  private stopped = false;

  constructor(private readonly options: SealerOptions) {}

  /** Seals on time until `stop`. */
  begin(): void {
    const { clock, log } = this.options;
    const tick = () => {
      // Read once: an interval that ended between two readings would wait for the next tick.
      const nowMs = clock.nowMs();
      this.timer = setTimeout(tick, intervalStartMs(intervalAt(nowMs) + 1) - nowMs);
      log.expire(nowMs);
      void this.seal();
    };
    tick();
  }

  /**
   * Stops when the interval of now is sealed too, with all that was accepted before (C-11). A
   * record that fails is tried again for a second.
   */
  async stop(): Promise<void> {
    if (this.timer) await this.sealCurrent();
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
    await this.running;
  }

  /** How far sealing is behind, in ms: 0 when every ended interval is sealed. */
  behindMs(): number {
    const { clock, log } = this.options;
    return Math.max(0, (intervalAt(clock.nowMs()) - 1 - log.sealedTo()) * INTERVAL_MS);
  }

  /** Seals every interval that has ended; while a sealing is under way, waits for that one. */
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
    while (log.sealedTo() < current && clock.nowMs() < endMs + LAST_SEALING_MS) {
      await Bun.sleep(Math.max(RETRY_MS, endMs - clock.nowMs()));
      await this.seal();
    }
  }

  // A commit may outlast an interval; the one that ended meanwhile is not left to the next tick.
  private async sealEnded(): Promise<void> {
    const { clock, log } = this.options;
    while (!this.stopped) {
      const nowMs = clock.nowMs();
      const ended = intervalAt(nowMs) - 1;
      if (ended <= log.sealedTo() || !(await this.sealOnce(ended, nowMs))) return;
    }
  }

  /** @returns whether it worked; after a failure the next tick tries again */
  private async sealOnce(ended: number, nowMs: number): Promise<boolean> {
    const { clock, log, logger } = this.options;
    try {
      if (this.failing) await this.recover();
      if (ended > log.sealedTo()) await this.sealTo(ended, nowMs);
      this.options.onSealed(clock.nowMs() - intervalStartMs(ended + 1));
      if (this.failing) logger.info({ interval: ended }, 'sealing again');
      this.failing = false;
      return true;
    } catch (error) {
      if (!this.failing) logger.error({ err: error, interval: ended }, 'sealing failed');
      this.failing = true;
      return false;
    }
  }

  private async sealTo(interval: number, nowMs: number): Promise<void> {
    const { store, log, logger, parts } = this.options;
    const after = log.sealedTo();
    const transients = parts.collect(after + 1, interval);
    const sealing = await store.sealInterval({ after, interval, nowMs, transients });
    // Nobody else seals here, so it was a sealing of our own whose answer was lost.
    if (sealing.outcome !== 'sealed')
      throw new Error(`intervals after ${after} are sealed already`);
    if (sealing.untold) logger.error({ interval }, `webhooks are not told: ${sealing.untold}`);
    parts.sealed();
    publishSealed(log, interval, sealing.bodies);
  }

  // A sealing that failed may have been committed all the same, and its answer lost. Then only the
  // record knows what is in it.
  private async recover(): Promise<void> {
    const { store, log, parts } = this.options;
    const from = log.sealedTo() + 1;
    const to = await store.readWatermark({});
    if (to < from) return;
    const bodies = await store.readSealedOfAll({ from, to });
    parts.sealed();
    publishSealed(log, to, bodies);
  }
}

const LAST_SEALING_MS = 1_000;
const RETRY_MS = 20;
