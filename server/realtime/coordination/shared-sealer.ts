import { intervalStartMs } from '../../../protocol/interval.ts';
import type { Clock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import type { Transient, ViewerChats } from '../feed/interval-body.ts';
import type { SealingProcedures } from '../feed/sealing-sql.ts';
import type { SharedTransientSource } from '../feed/transient-source.ts';
import type { Counts, SharedPresenceRegistry } from '../presence/presence-registry.ts';
import { countIsDue, viewCountOf } from '../presence/view-count-events.ts';
import type { FeedFollower } from './feed-follower.ts';
import { ForeignSealings } from './foreign-sealings.ts';
import type { SealCoordinator, SealedEntry } from './seal-coordinator.ts';

export interface SharedSealerOptions {
  readonly clock: Clock;
  readonly store: Pick<Calls<SealingProcedures>, 'sealInterval'>;
  readonly log: MemoryFeedLog;
  readonly logger: { error(fields: object, message: string): void };
  readonly coordinator: Pick<
    SealCoordinator,
    'collect' | 'keepClaim' | 'fence' | 'publish' | 'dataSetName'
  >;
  readonly presence: Pick<SharedPresenceRegistry, 'countsAtEndOf'>;
  readonly source: Pick<SharedTransientSource, 'merge'>;
  readonly follower: Pick<FeedFollower, 'apply'>;
}

/**
 * How long a node that lacks served intervals does not seal, so that nodes that have them can write them back
 * to a database that lost them. Longer than the delay of `TailRepair`.
 */
const BEHIND_MAX_MS = 4_000;
/**
 * How long a node is not chosen after a failure. While the database is unavailable, each sealing collects up to 4 MB
 * of posts, and one was tried in each interval. `SealFailover` still seals as soon as the database answers.
 */
const AFTER_FAILURE_MS = 2_000;
/** A claim lasts 100 ms. Counting 10,000 streams takes longer: other nodes counted them again at the same time. */
const KEEP_CLAIM_MS = 50;
/** For a second. After that another node tries. */
const KEEP_CLAIM_MAX = 20;

/**
 * Seals intervals for all nodes: collects what they reported, runs the sealing transaction and
 * publishes the bodies. It runs when the coordinator tells this node to seal, and needs Redis and
 * the database. When two nodes seal at the same time, the database accepts one of them, and the
 * other does nothing (N-4). After a failure the interval is late, which `SealFailover` repairs.
 */
export class SharedSealer {
  private sealing = false;
  private failedMs = Number.NEGATIVE_INFINITY;
  private readonly foreignSealings: ForeignSealings;
  /** Set while other nodes have served more than this node: its watermark, and since when. */
  private behind: { readonly after: number; readonly sinceMs: number } | null = null;

  constructor(private readonly options: SharedSealerOptions) {
    const { coordinator, logger } = options;
    const dataSetName = () => coordinator.dataSetName();
    const nowMs = () => runtime.monotonicMs();
    this.foreignSealings = new ForeignSealings({ dataSetName, nowMs, logger });
  }

  /** Whether a sealing is under way. */
  isBusy(): boolean {
    return this.sealing;
  }

  /** Whether other nodes may leave the next sealing to this node: its last one must not have failed just now. */
  canSeal(): boolean {
    return !this.sealing && runtime.monotonicMs() >= this.failedMs + AFTER_FAILURE_MS;
  }

  /** The database failed: the time in which others can write intervals back to it begins anew. */
  databaseFailed(): void {
    this.behind = null;
  }

  /**
   * Seals all intervals after this node's watermark, up to `interval`, which has ended. Does
   * nothing while another sealing of this node is under way.
   * @throws Unavailable when Redis or the database is unavailable; the interval may still be sealed
   */
  async seal(interval: number): Promise<void> {
    if (this.sealing || interval <= this.options.log.watermark()) return;
    this.sealing = true;
    try {
      const isDone = (await this.sealTo(interval)) || (await this.sealTo(interval));
      if (!isDone) throw new Unavailable('the database changed its timeline again');
      this.failedMs = Number.NEGATIVE_INFINITY;
    } catch (error) {
      this.failedMs = runtime.monotonicMs();
      throw error;
    } finally {
      this.sealing = false;
    }
  }

  /** @returns false when the timeline of the database had to be named first: then it must be called again */
  private async sealTo(interval: number): Promise<boolean> {
    const { clock, store, log, logger, follower, coordinator } = this.options;
    const after = log.watermark();
    const { transients, served, timeline } = await this.collect(after, interval);
    if (this.isBehind(after, served)) return true;
    const nowMs = Math.max(clock.nowMs(), intervalStartMs(interval + 1));
    const dataSet = coordinator.dataSetName();
    const sealing = await store.sealInterval({
      ...{ after, interval, nowMs, transients, dataSet, timeline },
    });
    if (sealing.outcome === 'other-timeline') {
      await this.nameTimeline(sealing.timeline);
      return false;
    }
    if (sealing.outcome === 'conflict') this.foreignSealings.note(sealing.dataSet);
    if (sealing.outcome !== 'sealed') return true;
    if (sealing.eventLogError) {
      logger.error({ interval }, `webhook events were not logged: ${sealing.eventLogError}`);
    }
    const entry: SealedEntry = { after, interval, bodies: sealing.bodies };
    // Refused: another node has published it, with other bodies if the database lost this commit. The follower
    // serves those.
    const { isPublished } = await coordinator.publish(entry, timeline);
    if (isPublished) await follower.apply(entry);
    return true;
  }

  /** @throws Unavailable when nodes seal on a later timeline */
  private async nameTimeline(timeline: string): Promise<void> {
    const named = await this.options.coordinator.fence(timeline);
    if (named === timeline) return;
    throw new Unavailable(
      `this node uses an earlier primary of PostgreSQL (timeline ${timeline}) than other nodes (${named}); ` +
        'connect it to the present one, or empty Redis if all nodes went back on purpose',
    );
  }

  /**
   * Whether others have served intervals that this node does not have. They are in the database, which then
   * rejects the sealing, unless it lost them: then a sealing would make them empty for ever (I-1).
   */
  private isBehind(after: number, served: number): boolean {
    const nowMs = runtime.monotonicMs();
    if (after >= served) this.behind = null;
    else if (this.behind?.after !== after) this.behind = { after, sinceMs: nowMs };
    return this.behind !== null && nowMs < this.behind.sinceMs + BEHIND_MAX_MS;
  }

  private async collect(
    after: number,
    interval: number,
  ): Promise<{ transients: Transient[]; served: number; timeline: string }> {
    const { coordinator, presence, source } = this.options;
    const isDue = countIsDue(after + 1, interval);
    const timer = this.keepClaim(interval);
    try {
      const collected = await coordinator.collect(after, interval, isDue);
      const { batches, served, activeStreams, timeline } = collected;
      const counts = isDue ? await presence.countsAtEndOf(interval) : [];
      const transients = transientsOf(source.merge(batches), counts, activeStreams);
      return { transients, served, timeline };
    } finally {
      runtime.clearTimer(timer);
    }
  }

  /** Keeps the claim until the timer is stopped, but not while the database may be the one that is slow. */
  private keepClaim(interval: number): Timer {
    let left = KEEP_CLAIM_MAX;
    return runtime.setInterval(() => {
      if (left-- > 0) void this.options.coordinator.keepClaim(interval).catch(() => {});
    }, KEEP_CLAIM_MS);
  }
}

/**
 * The transient parts of an interval, by stream (F-15, F-27).
 * @param counts of streams that have viewers or have just lost the last
 */
export function transientsOf(
  chats: ReadonlyMap<string, ViewerChats>,
  counts: Counts,
  activeStreams: readonly string[],
): Transient[] {
  const counted = new Map([...activeStreams.map((streamId) => [streamId, 0] as const), ...counts]);
  const streamIds = new Set([...counted.keys(), ...chats.keys()]);
  return [...streamIds].map((streamId) => {
    const value = counted.get(streamId);
    const viewCount = value === undefined ? null : viewCountOf(value);
    return { streamId, viewCount, chats: chats.get(streamId) ?? null };
  });
}
