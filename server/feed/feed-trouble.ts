import type { Logger } from 'pino';

/**
 * Why intervals that are not sealed cannot be served by this node now (N-9, N-10). It says so in
 * the log once, and once when they can be again.
 */
export class FeedTrouble {
  private recordAway: string | null = null;
  private told = false;
  private toldOfLoss = false;

  constructor(
    private readonly redisAway: () => string | null,
    private readonly logger: Logger,
  ) {}

  /** The reason, for the operator; null when all is well as far as is known. */
  reason(): string | null {
    return this.redisAway() ?? this.recordAway;
  }

  /** The reason, for viewers: without addresses. */
  refusal(): string | null {
    if (this.redisAway() !== null) return 'Redis is away.';
    return this.recordAway === null ? null : 'The record is away.';
  }

  /** The record did not answer. */
  recordFailed(error: unknown): void {
    this.recordAway = messageOf(error);
    this.note(error);
  }

  /** The record answered, and lacks what was served. */
  recordWentBack(error: Error): void {
    this.recordAway = error.message;
    if (!this.toldOfLoss) {
      this.logger.error(
        { reason: error.message },
        'the record lost what was acknowledged: it was restored, or a replica that lacked the last ' +
          'commits was promoted; the feed of the last minute is written back, answers and the rest ' +
          'are gone (docs/operations.md, Backup and restore)',
      );
    }
    this.toldOfLoss = true;
    this.told = true;
  }

  /** The record answered. */
  recordWorked(): void {
    this.recordAway = null;
  }

  /** Something that sealing needs did not work. */
  note(error: unknown): void {
    if (!this.told) this.logger.warn({ reason: messageOf(error) }, 'sealing is held up');
    this.told = true;
  }

  /** An interval was sealed, by whatever node, and can be read here. */
  healed(interval: number): void {
    this.recordAway = null;
    if (this.told) this.logger.info({ interval }, 'sealing goes on');
    this.told = false;
    this.toldOfLoss = false;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
