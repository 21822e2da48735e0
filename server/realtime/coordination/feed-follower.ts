import type { Calls } from '../../storage/sql/procedure.ts';
import type { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { APPENDED_MAX, publishSealed } from '../feed/publish-sealed.ts';
import type { SealedBody, sealingProcedures } from '../feed/sealing-sql.ts';
import type { SealCoordinator, SealedEntry } from './seal-coordinator.ts';
import { DatabaseRolledBack, TailRepair } from './tail-repair.ts';
import type { lostTailProcedures } from './tail-repair-sql.ts';

export interface FeedFollowerOptions {
  readonly parts: Pick<SealCoordinator, 'follow'>;
  readonly store: Pick<Calls<typeof sealingProcedures>, 'readWatermark' | 'readSealedOfAll'> &
    Calls<typeof lostTailProcedures>;
  readonly log: MemoryFeedLog;
  readonly random: () => number;
  /** Told of each interval up to which readers see everything now. */
  readonly onShown: (interval: number) => void;
  readonly onTrouble: (error: unknown) => void;
}

/** Read from the database at once: few enough to be there in time, however many streams there are. */
const FILL_INTERVALS = 8;
/** How long one look for news waits. */
const FOLLOW_MS = 1_000;
const RETRY_LEAST_MS = 50;
const RETRY_JITTER_MS = 100;

/**
 * Shows the readers of this node what any node sealed, in order and without gaps. News come by the
 * log of all nodes; what that lacks is in the database. It knows of no interval that is not in the
 * record (I-1).
 */
export class FeedFollower {
  private stopped = false;
  private last: Promise<unknown> = Promise.resolve();

  private readonly lostTail: TailRepair;

  constructor(private readonly options: FeedFollowerOptions) {
    const { store, log } = options;
    this.lostTail = new TailRepair({ store, log, nowMs: () => performance.now() });
  }

  /** Follows the log until `stop`. */
  begin(): void {
    void this.follow();
  }

  stop(): void {
    this.stopped = true;
  }

  /** Shows what was sealed. @throws Unavailable when there is a gap that the database cannot fill now */
  take(entry: SealedEntry): Promise<void> {
    return this.inTurn(async () => {
      const { log } = this.options;
      if (entry.interval <= log.sealedTo()) return;
      const { after, interval, bodies } = entry;
      if (bodies === null) await this.fillGap(interval);
      else {
        if (after > log.sealedTo()) await this.fillGap(after);
        this.show(interval, bodies);
      }
    });
  }

  /**
   * Shows what the database has, without the log. A record that lost what was shown here gets it back.
   * @returns what nobody here knew of, for the other nodes; null when that is nothing
   * @throws RecordWentBack when it lost something and has not got it back yet
   */
  async catchUp(): Promise<SealedEntry | null> {
    const { store, log } = this.options;
    // Shown was only what is recorded: a later look that does not find it means that it is lost.
    const served = log.sealedTo();
    const to = await store.readWatermark({});
    await this.lostTail.check(to, served);
    if (to <= log.sealedTo()) return null;
    return this.inTurn(() => this.fillTo(to));
  }

  private async follow(): Promise<void> {
    const { parts, log, random, onTrouble } = this.options;
    while (!this.stopped) {
      try {
        const entries = await parts.follow(log.sealedTo(), FOLLOW_MS);
        for (const entry of entries) await this.take(entry);
      } catch (error) {
        if (this.stopped) return;
        onTrouble(error);
        await Bun.sleep(RETRY_LEAST_MS + random() * RETRY_JITTER_MS);
      }
    }
  }

  // What the database lost is not empty: nobody is served it from there.
  private async fillGap(interval: number): Promise<void> {
    const watermark = await this.options.store.readWatermark({});
    if (watermark < interval) throw new DatabaseRolledBack(watermark, interval);
    await this.fillTo(interval);
  }

  private async fillTo(interval: number): Promise<SealedEntry | null> {
    const { store, log } = this.options;
    if (interval <= log.sealedTo()) return null;
    // What is further back is read by those who ask for it.
    const after = Math.max(log.sealedTo(), interval - APPENDED_MAX);
    const all: SealedBody[] = [];
    for (let from = after + 1; from <= interval; from += FILL_INTERVALS) {
      const to = Math.min(from + FILL_INTERVALS - 1, interval);
      const bodies = await store.readSealedOfAll({ from, to });
      if (from - 1 > log.sealedTo()) log.skipTo(from - 1);
      this.show(to, bodies);
      all.push(...bodies);
    }
    return { after, interval, bodies: all };
  }

  private show(interval: number, bodies: readonly SealedBody[]): void {
    const { log, onShown } = this.options;
    publishSealed(log, interval, bodies);
    onShown(interval);
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(work);
    this.last = turn.catch(() => {});
    return turn;
  }
}
