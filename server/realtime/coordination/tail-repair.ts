import type { Calls } from '../../storage/sql/procedure.ts';
import type { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { DatabaseRolledBack } from '../feed/sealed-sql.ts';
import type { tailRepairProcedures } from './tail-repair-sql.ts';

export interface TailRepairOptions {
  readonly store: Pick<Calls<typeof tailRepairProcedures>, 'restoreSealed'>;
  readonly log: Pick<MemoryFeedLog, 'watermark' | 'recentBodies'>;
  /** A monotonic clock, in ms. */
  readonly nowMs: () => number;
}

/** A node with all lost intervals waits this long, until every node has the newest publication. */
const COMPLETE_AFTER_MS = 500;
/** A node with some of the lost intervals waits longer, for a node that may have all. */
const PARTIAL_AFTER_MS = 2_000;
/** Intervals per write: few enough to be fast with many streams. */
const WRITE_INTERVALS = 8;

/**
 * Repairs a database that lost its last commits, because a replica without them was promoted or a
 * backup was restored: writes back the intervals that this node served in the last minute (N-22).
 * Intervals that no node has in memory stay empty. `SealFailover` runs the check whenever an
 * interval is late. It needs the database, and fails with `DatabaseRolledBack` until it is repaired.
 */
export class TailRepair {
  private rollbackSeenAtMs: number | null = null; // When `check` first saw this rollback.

  constructor(private readonly options: TailRepairOptions) {}

  /**
   * Compares the watermark with the newest interval that was served before the watermark was read,
   * and repairs the database if the watermark is lower.
   * @throws DatabaseRolledBack while other nodes may have more of the lost intervals
   */
  async check(watermark: number, served: number): Promise<void> {
    if (watermark >= served) {
      this.rollbackSeenAtMs = null;
      return;
    }
    const { log, nowMs } = this.options;
    const to = log.watermark();
    this.rollbackSeenAtMs ??= nowMs();
    const { from, bodies } = log.recentBodies(watermark + 1, to);
    const waitMs = from === watermark + 1 ? COMPLETE_AFTER_MS : PARTIAL_AFTER_MS;
    if (nowMs() < this.rollbackSeenAtMs + waitMs) throw new DatabaseRolledBack(watermark, served);
    const { restoreSealed } = this.options.store;
    let after = watermark;
    while (after < to) {
      // The first step passes over all intervals that are not in memory.
      const interval = after < from - 1 ? from - 1 : Math.min(after + WRITE_INTERVALS, to);
      const lost = bodies.filter((body) => body.interval > after && body.interval <= interval);
      // Another node repairs it: the next check sees how far it came.
      if (!(await restoreSealed({ after, interval, bodies: lost }))) return;
      after = interval;
    }
  }
}
