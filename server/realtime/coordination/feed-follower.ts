import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { APPENDED_MAX, type MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { DatabaseRolledBack, type SealedBody, type sealedProcedures } from '../feed/sealed-sql.ts';
import type { SealCoordinator, SealedEntry } from './seal-coordinator.ts';
import { TailRepair } from './tail-repair.ts';
import type { tailRepairProcedures } from './tail-repair-sql.ts';

export interface FeedFollowerOptions {
  readonly coordinator: Pick<SealCoordinator, 'follow'>;
  readonly store: Pick<Calls<typeof sealedProcedures>, 'readWatermark' | 'readSealedOfAll'> &
    Calls<typeof tailRepairProcedures>;
  readonly log: MemoryFeedLog;
  /** Numbers in [0, 1), so that nodes do not retry at the same time. */
  readonly random: () => number;
  /** Called when this node serves all intervals up to this one. */
  readonly onPublished: (interval: number) => void;
  readonly onError: (error: unknown) => void;
}

/** Intervals per database read: few enough to be fast with many streams. */
const READ_INTERVALS = 8;
/** How long one read of the coordinator's log waits for an entry. */
const FOLLOW_MS = 1_000;
const RETRY_MIN_MS = 50;
const RETRY_JITTER_MS = 100;

/**
 * Serves on this node what any node sealed, in order and without gaps. It follows the coordinator's
 * log from `start` to `stop`, and fills gaps of that log from the database. It serves only intervals
 * that are in the database (I-1). It needs Redis; for gaps also the database. A failure is passed to
 * `onError` and retried.
 */
export class FeedFollower {
  private stopped = false;
  /** The end of the queue: `apply` and `catchUp` run one after the other. */
  private queue: Promise<unknown> = Promise.resolve();

  private readonly tailRepair: TailRepair;

  constructor(private readonly options: FeedFollowerOptions) {
    const { store, log } = options;
    this.tailRepair = new TailRepair({ store, log, nowMs: () => runtime.monotonicMs() });
  }

  /** Follows the coordinator's log until `stop`. */
  start(): void {
    void this.follow();
  }

  stop(): void {
    this.stopped = true;
  }

  /**
   * Serves the intervals of an entry.
   * @throws Unavailable when there is a gap before it that the database cannot fill now
   */
  apply(entry: SealedEntry): Promise<void> {
    return this.enqueue(async () => {
      const { log } = this.options;
      if (entry.interval <= log.watermark()) return;
      const { after, interval, bodies } = entry;
      if (bodies === null) await this.fillGap(interval);
      else {
        if (after > log.watermark()) await this.fillGap(after);
        this.publish(interval, bodies);
      }
    });
  }

  /**
   * Serves what the database has, without the coordinator's log. Repairs a database that lost
   * intervals which this node served.
   * @param publish publishes to the other nodes what this node has not served; false: it could not, and this node must
   *   not serve it
   * @returns whether it has served more
   * @throws DatabaseRolledBack when the database lost intervals and is not repaired yet
   */
  async catchUp(publish: (entry: SealedEntry) => Promise<boolean>): Promise<boolean> {
    const { store, log } = this.options;
    // Read before the watermark: a node serves only what is in the database, so a lower watermark
    // means that the database lost it.
    const served = log.watermark();
    const watermark = await store.readWatermark({});
    await this.tailRepair.check(watermark, served);
    if (watermark <= log.watermark()) return false;
    return this.enqueue(() => this.fillTo(watermark, publish));
  }

  private async follow(): Promise<void> {
    const { coordinator, log, random, onError } = this.options;
    while (!this.stopped) {
      try {
        const entries = await coordinator.follow(log.watermark(), FOLLOW_MS);
        for (const entry of entries) await this.apply(entry);
      } catch (error) {
        if (this.stopped) return;
        onError(error);
        await runtime.sleep(RETRY_MIN_MS + random() * RETRY_JITTER_MS);
      }
    }
  }

  // Intervals above the watermark were lost by the database: fail, or they would be served empty.
  private async fillGap(interval: number): Promise<void> {
    const watermark = await this.options.store.readWatermark({});
    if (watermark < interval) throw new DatabaseRolledBack(watermark, interval);
    await this.fillTo(interval, async () => true);
  }

  /** Publishes and serves what the database has up to an interval. @returns whether it has served any of it */
  private async fillTo(
    interval: number,
    publish: (entry: SealedEntry) => Promise<boolean>,
  ): Promise<boolean> {
    const { store, log } = this.options;
    if (interval <= log.watermark()) return false;
    // Memory holds no older intervals: the feed reads them from the database on request.
    const after = Math.max(log.watermark(), interval - APPENDED_MAX);
    for (let from = after + 1; from <= interval; from += READ_INTERVALS) {
      const to = Math.min(from + READ_INTERVALS - 1, interval);
      const bodies = await store.readSealedOfAll({ from, to });
      if (!(await publish({ after: from - 1, interval: to, bodies }))) return from > after + 1;
      if (from - 1 > log.watermark()) log.skipTo(from - 1);
      this.publish(to, bodies);
    }
    return true;
  }

  private publish(interval: number, bodies: readonly SealedBody[]): void {
    const { log, onPublished } = this.options;
    log.publishSealed(interval, bodies);
    onPublished(interval);
  }

  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.queue.then(work);
    this.queue = result.catch(() => {});
    return result;
  }
}
