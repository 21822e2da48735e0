import type { Logger } from 'pino';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import type { Clock } from '../clock.ts';
import type { Calls } from '../sql/procedure.ts';
import type { MemoryFeedLog } from './feed-log-memory.ts';
import type { Transient } from './interval-body.ts';
import type { sealingProcedures } from './sealing-sql.ts';

export interface SealerOptions {
  readonly clock: Clock;
  readonly record: Pick<Calls<typeof sealingProcedures>, 'sealInterval' | 'readSealedOfAll'>;
  readonly log: MemoryFeedLog;
  /** What is in memory for the intervals from `from` to `to`; it is handed over, not kept. */
  readonly collect: (from: number, to: number) => Transient[];
  readonly logger: Logger;
  /** Told how long after the end of its interval a body could be served, in ms. */
  readonly onSealed: (latenessMs: number) => void;
}

/**
 * Seals one interval after the other, each as soon as it has ended: takes what is in memory,
 * has the record seal it, and only then lets readers see it (F-13).
 */
export class Sealer {
  private unsealed: Transient[] | null = null;
  private timer: Timer | null = null;
  private running: Promise<void> | null = null;
  private failing = false;

  constructor(private readonly options: SealerOptions) {}

  /** Seals on time until `stop`. */
  begin(): void {
    const { clock, log } = this.options;
    const tick = () => {
      log.expire(clock.nowMs());
      void this.seal();
      const nowMs = clock.nowMs();
      this.timer = setTimeout(tick, intervalStartMs(intervalAt(nowMs) + 1) - nowMs);
    };
    tick();
  }

  /** Stops after the sealing that is under way. */
  async stop(): Promise<void> {
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
    this.running ??= this.sealOnce().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  private async sealOnce(): Promise<void> {
    const { clock, record, log, collect, logger } = this.options;
    const nowMs = clock.nowMs();
    const ended = intervalAt(nowMs) - 1;
    const from = log.sealedTo() + 1;
    if (ended < from) return;
    // What could not be sealed is tried again first: nothing that was posted is lost.
    const transients = this.unsealed ?? collect(from, ended);
    this.unsealed = transients;
    try {
      const { previous, bodies } = await record.sealInterval({
        interval: ended,
        nowMs,
        transients,
      });
      this.unsealed = null;
      await this.publishSkipped(from, previous, ended);
      log.append(ended, bodies);
      this.options.onSealed(clock.nowMs() - intervalStartMs(ended + 1));
      if (this.failing) logger.info({ interval: ended }, 'sealing again');
      this.failing = false;
    } catch (error) {
      if (!this.failing) logger.error({ err: error, interval: ended }, 'sealing failed');
      this.failing = true;
    }
  }

  // Between what readers have and the new interval nothing was sealed, so it is empty; unless a
  // commit succeeded whose answer was lost. Then only the record knows.
  private async publishSkipped(from: number, previous: number, ended: number): Promise<void> {
    const { log, record } = this.options;
    if (ended - from > INTERVALS_APPENDED_MAX) log.skipTo(ended - 1);
    else {
      const known = previous >= from ? await record.readSealedOfAll({ from, to: ended - 1 }) : [];
      const byInterval = Map.groupBy(known, ({ interval }) => interval);
      for (let interval = from; interval < ended; interval++) {
        log.append(interval, byInterval.get(interval) ?? []);
      }
    }
  }
}

// After a restart hours may have passed; readers find those intervals in the record.
const INTERVALS_APPENDED_MAX = 40;
