import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { APPENDED_MAX, type MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { DatabaseRolledBack, type SealedBody, type sealedProcedures } from '../feed/sealed-sql.ts';
import type { PublicationReply, SealCoordinator, SealedEntry } from './seal-coordinator.ts';
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

/**
 * Publishes what was read from the database, and names its timeline when nodes seal on another one.
 * @param timeline of the database that had it
 * @returns null: it failed
 */
export type PublishFound = (
  entry: SealedEntry,
  timeline: string,
) => Promise<PublicationReply | null>;

interface Range {
  readonly from: number;
  readonly to: number;
}

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
  async catchUp(publish: PublishFound): Promise<boolean> {
    const { store, log } = this.options;
    // Read before the watermark: a node serves only what is in the database, so a lower watermark
    // means that the database lost it.
    const served = log.watermark();
    const watermark = await store.readWatermark({});
    await this.tailRepair.check(watermark, served);
    let hasServed = false;
    for (const range of this.missingTo(watermark)) {
      const entry = await this.publishRange(range, publish);
      if (entry === null) break;
      await this.enqueue(async () => this.serve(entry));
      hasServed = true;
      if (entry.interval < range.to) break;
    }
    return hasServed;
  }

  /** Publishes a range. @returns the intervals from its first one on that are published; null: none */
  private async publishRange(range: Range, publish: PublishFound): Promise<ReadEntry | null> {
    // The second time when the first one had to name the timeline. What was read before may be lost since.
    for (let attempt = 0; attempt < 2; attempt++) {
      const { timeline, ...entry } = await this.read(range);
      const reply = await publish(entry, timeline);
      if (!reply) return null;
      if (reply.isPublished) return entry;
      if (reply.timeline === timeline) {
        return reply.published < range.from ? null : this.readPublished(range, reply);
      }
    }
    return null;
  }

  /**
   * Reads again what others have published: if the database lost what was read first, they have sealed it again.
   * Null when it is not the database of those nodes.
   */
  private async readPublished(
    { from, to }: Range,
    { published, timeline: named }: PublicationReply,
  ): Promise<ReadEntry | null> {
    const { timeline, ...entry } = await this.read({ from, to: Math.min(to, published) });
    return timeline === named ? entry : null;
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
  private missingTo(interval: number): Range[] {
    const ranges: Range[] = [];
    // The feed reads older intervals from the database on request.
    const first = Math.max(this.options.log.watermark(), interval - APPENDED_MAX) + 1;
    for (let from = first; from <= interval; from += READ_INTERVALS) {
      ranges.push({ from, to: Math.min(from + READ_INTERVALS - 1, interval) });
    }
    return ranges;
  }

  private async read(range: Range): Promise<ReadEntry & { readonly timeline: string }> {
    const { timeline, bodies } = await this.options.store.readSealedOfAll(range);
    return { after: range.from - 1, interval: range.to, bodies, timeline };
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
