import type { Logger } from 'pino';

/** Longer than an interval: when nothing was sealed for so long after a failure, it is one. */
const HELD_UP_MS = 300;

/**
 * Why intervals that are not sealed cannot be served by this node now (N-9, N-10). It says so in
 * the log once, and once when they can be again.
 */
export class FeedHealth {
  private databaseUnavailable: string | null = null;
  /** What has failed since an interval was last sealed, and since when. */
  private failing: { readonly reason: string; readonly sinceMs: number } | null = null;
  private told = false;
  private toldOfLoss = false;

  constructor(
    private readonly redisUnavailable: () => string | null,
    private readonly logger: Logger,
    /** A source that runs forward at the pace of real time, in ms. */
    private readonly nowMs: () => number,
  ) {}

  /** The reason, for the operator; null when all is well as far as is known. */
  reason(): string | null {
    return this.redisUnavailable() ?? this.databaseUnavailable ?? this.heldUp();
  }

  /** The reason, for viewers: without addresses. */
  refusal(): string | null {
    if (this.redisUnavailable() !== null) return 'Redis is unavailable.';
    if (this.databaseUnavailable !== null) return 'The database is unavailable.';
    return this.heldUp() === null ? null : 'Sealing is held up.';
  }

  // What was sealed just before Redis died is found in the database when it is back, and says nothing of
  // whether sealing works since: readers would be held for another try that fails.
  private wasSealedBefore(endedMs: number): boolean {
    if (this.failing === null || endedMs < HELD_UP_MS) return false;
    return endedMs >= this.nowMs() - this.failing.sinceMs;
  }

  // Redis may answer and still not do what sealing needs, as when it lacks the replicas that must
  // have everything (N-14).
  private heldUp(): string | null {
    if (this.failing === null) return null;
    return this.nowMs() - this.failing.sinceMs < HELD_UP_MS ? null : this.failing.reason;
  }

  /** The database did not answer. */
  recordFailed(error: unknown): void {
    this.databaseUnavailable = messageOf(error);
    this.note(error);
  }

  /** The database answered, and lacks what was served. */
  databaseRolledBack(error: Error): void {
    this.databaseUnavailable = error.message;
    if (!this.toldOfLoss) {
      this.logger.error(
        { reason: error.message },
        'the database lost what was acknowledged: it was restored, or a replica that lacked the last ' +
          'commits was promoted; the feed of the last minute is written back, answers and the rest ' +
          'are gone (docs/operations.md, Backup and restore)',
      );
    }
    this.toldOfLoss = true;
    this.told = true;
  }

  /** The database answered. */
  recordWorked(): void {
    this.databaseUnavailable = null;
  }

  /** Something that sealing needs did not work. */
  note(error: unknown): void {
    const reason = messageOf(error);
    this.failing ??= { reason, sinceMs: this.nowMs() };
    if (!this.told) this.logger.warn({ reason }, 'sealing is held up');
    this.told = true;
  }

  /**
   * An interval was sealed, by whatever node, and can be read here.
   * @param endedMs how long ago it ended
   */
  healed(interval: number, endedMs: number): void {
    if (this.wasSealedBefore(endedMs)) return;
    this.databaseUnavailable = null;
    this.failing = null;
    if (this.told) this.logger.info({ interval }, 'sealing goes on');
    this.told = false;
    this.toldOfLoss = false;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
