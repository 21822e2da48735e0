import { Unavailable } from '../../platform/errors.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import type { lostTailProcedures } from './tail-repair-sql.ts';

/** The database lacks intervals that were served: it is older than it was. */
export class DatabaseRolledBack extends Unavailable {
  constructor(watermark: number, served: number) {
    super(`the database went back: it ends with interval ${watermark}, and ${served} was served`);
  }
}

export interface TailRepairOptions {
  readonly store: Pick<Calls<typeof lostTailProcedures>, 'restoreSealed'>;
  readonly log: Pick<MemoryFeedLog, 'sealedTo' | 'inMemory'>;
  readonly nowMs: () => number;
}

/** By then every node has the news of what was sealed last, so that nothing served is left out. */
const WHOLE_AFTER_MS = 500;
/** A node that has not all that was lost leaves it so long to those that may have. */
const PART_AFTER_MS = 2_000;
/** Written at once: few enough to be done in time, however many streams there are. */
const STEP_INTERVALS = 8;

/**
 * Writes back to the database what it lost at its end, by the promotion of a replica that lacked the
 * last commits or the restore of a backup: the intervals that readers were served in the last
 * minute (N-22). What no node has in memory is lost: those intervals are empty.
 */
export class TailRepair {
  private seenAtMs: number | null = null;

  constructor(private readonly options: TailRepairOptions) {}

  /**
   * Compares the watermark with what was served before it was read, and mends the database if need be.
   * @throws RecordWentBack when it is behind and cannot be mended yet
   */
  async check(watermark: number, served: number): Promise<void> {
    if (watermark >= served) {
      this.seenAtMs = null;
      return;
    }
    const { log, nowMs } = this.options;
    const to = log.sealedTo();
    this.seenAtMs ??= nowMs();
    const { from, bodies } = log.inMemory(watermark + 1, to);
    const waitMs = from === watermark + 1 ? WHOLE_AFTER_MS : PART_AFTER_MS;
    if (nowMs() < this.seenAtMs + waitMs) throw new DatabaseRolledBack(watermark, served);
    const { restoreSealed } = this.options.store;
    let after = watermark;
    while (after < to) {
      // What is not in memory is passed over at once.
      const interval = after < from - 1 ? from - 1 : Math.min(after + STEP_INTERVALS, to);
      const lost = bodies.filter((one) => one.interval > after && one.interval <= interval);
      // Another node is at it: the next look tells how far it came.
      if (!(await restoreSealed({ after, interval, bodies: lost }))) return;
      after = interval;
    }
  }
}
