import type { Logger } from 'pino';
import { messageOf } from '../../platform/errors.ts';

/** How long a failure may last without a sealed interval before it is an outage: over one interval. */
const OUTAGE_AFTER_MS = 300;

/**
 * Why this node cannot serve intervals that are not sealed yet (N-9, N-10). The parts of the
 * coordination record their failures and successes here; the feed reads the reason for its 503s.
 * It logs the begin and the end of each outage once.
 */
export class FeedHealth {
  private databaseUnavailable: string | null = null;
  /** The first failure since an interval was last sealed. */
  private failure: { readonly reason: string; readonly sinceMs: number } | null = null;
  private outageLogged = false;
  private rollbackLogged = false;

  constructor(
    private readonly redisUnavailable: () => string | null,
    private readonly logger: Logger,
    /** A monotonic clock, in ms. */
    private readonly nowMs: () => number,
  ) {}

  /** The reason for operators, with addresses; null while healthy. */
  reason(): string | null {
    return this.redisUnavailable() ?? this.databaseUnavailable ?? this.stalled();
  }

  /** The reason for viewers, without addresses; null while healthy. */
  publicReason(): string | null {
    if (this.redisUnavailable() !== null) return 'Redis is unavailable.';
    if (this.databaseUnavailable !== null) return 'The database is unavailable.';
    return this.stalled() === null ? null : 'Sealing is stalled.';
  }

  /** The database did not answer. */
  databaseFailed(error: unknown): void {
    this.databaseUnavailable = messageOf(error);
    this.sealingFailed(error);
  }

  databaseWorked(): void {
    this.databaseUnavailable = null;
  }

  /** The database answered and lacks intervals that were served. */
  databaseRolledBack(error: Error): void {
    this.databaseUnavailable = error.message;
    if (!this.rollbackLogged) {
      this.logger.error(
        { reason: error.message },
        'the database lost acknowledged data: it was restored, or a replica without the last ' +
          'commits was promoted; nodes write the feed of the last minute back, answers and all ' +
          'other data are lost (docs/operations.md, Backup and restore)',
      );
    }
    this.rollbackLogged = true;
    this.outageLogged = true;
  }

  /** A step that sealing needs failed. */
  sealingFailed(error: unknown): void {
    const reason = messageOf(error);
    this.failure ??= { reason, sinceMs: this.nowMs() };
    if (!this.outageLogged) this.logger.warn({ reason }, 'sealing is stalled');
    this.outageLogged = true;
  }

  /**
   * An interval was sealed, by any node, and is served on this node.
   * @param endedAgoMs time since the end of the interval
   */
  intervalServed(interval: number, endedAgoMs: number): void {
    if (this.endedBeforeFailure(endedAgoMs)) return;
    this.databaseUnavailable = null;
    this.failure = null;
    if (this.outageLogged) this.logger.info({ interval }, 'sealing has resumed');
    this.outageLogged = false;
    this.rollbackLogged = false;
  }

  // An interval sealed just before Redis failed may be found in the database later. It does not
  // prove that sealing works again: without this check viewers would wait instead of getting 503.
  private endedBeforeFailure(endedAgoMs: number): boolean {
    if (this.failure === null || endedAgoMs < OUTAGE_AFTER_MS) return false;
    return endedAgoMs >= this.nowMs() - this.failure.sinceMs;
  }

  // Redis may answer and still not do what sealing needs, as when replicas are missing (N-14).
  private stalled(): string | null {
    if (this.failure === null) return null;
    return this.nowMs() - this.failure.sinceMs < OUTAGE_AFTER_MS ? null : this.failure.reason;
  }
}
