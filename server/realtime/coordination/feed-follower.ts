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

/** How a publication ended. `earlier`: other nodes had published some of its intervals. */
export type Publication = 'done' | 'earlier' | 'failed';

interface ReadEntry extends SealedEntry {
  readonly bodies: readonly SealedBody[];
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
 * that are in the database and published (I-1). It needs Redis; for gaps also the database. A failure is
 * passed to `onError` and retried.
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
   * @param publish publishes to other nodes what this one is going to serve
   * @returns whether it has served more
   * @throws DatabaseRolledBack when the database lost intervals and is not repaired yet
   */
  async catchUp(publish: (entry: SealedEntry) => Promise<Publication>): Promise<boolean> {
    const { store, log } = this.options;
    // Read before the watermark: a node serves only what is in the database, so a lower watermark
    // means that the database lost it.
    const served = log.watermark();
    const watermark = await store.readWatermark({});
    await this.tailRepair.check(watermark, served);
    let hasServed = false;
    for (const range of this.missingTo(watermark)) {
      let entry = await this.read(range);
      const publication = await publish(entry);
      if (publication === 'failed') break;
      // Read again: if the database lost the first bodies, others have published what they sealed then.
      if (publication === 'earlier') entry = await this.read(range);
      await this.enqueue(async () => this.serve(entry));
      hasServed = true;
    }
    return hasServed;
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

  /**
   * Serves intervals up to one that is published.
   * @throws DatabaseRolledBack when the database lost them: they would be served empty
   */
  private async fillGap(interval: number): Promise<void> {
    const watermark = await this.options.store.readWatermark({});
    if (watermark < interval) throw new DatabaseRolledBack(watermark, interval);
    for (const range of this.missingTo(interval)) this.serve(await this.read(range));
  }

  /** The intervals up to this one that the node does not serve and can keep in memory, in ranges. */
  private missingTo(interval: number): { readonly from: number; readonly to: number }[] {
    const ranges: { from: number; to: number }[] = [];
    // The feed reads older intervals from the database on request.
    const first = Math.max(this.options.log.watermark(), interval - APPENDED_MAX) + 1;
    for (let from = first; from <= interval; from += READ_INTERVALS) {
      ranges.push({ from, to: Math.min(from + READ_INTERVALS - 1, interval) });
    }
    return ranges;
  }

  private async read(range: { readonly from: number; readonly to: number }): Promise<ReadEntry> {
    const bodies = await this.options.store.readSealedOfAll(range);
    return { after: range.from - 1, interval: range.to, bodies };
  }

  private serve({ after, interval, bodies }: ReadEntry): void {
    const { log } = this.options;
    if (interval <= log.watermark()) return;
    if (after > log.watermark()) log.skipTo(after);
    this.publish(interval, bodies);
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
