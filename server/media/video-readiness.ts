import type { Logger } from 'pino';
import { runtime } from '../platform/runtime.ts';
import { waitAtMost } from '../platform/wait-at-most.ts';

export interface VideoReadinessOptions {
  /** Why ffmpeg cannot be used, for the operator; null when it can. */
  readonly checkFfmpeg: () => Promise<string | null>;
  /** Opens the ingest ports that are not open. @returns whether none is left */
  readonly openPorts: () => Promise<boolean>;
  readonly logger: Logger;
}

/** Failures may be transient: an upgrade of ffmpeg, no memory for a process, a port of the previous process. */
const RETRY_MS = 30_000;
/** Anyone can connect as a source, and a check starts up to four programs. */
const SOURCE_RETRY_MS = 5_000;
/** Senders wait for 10 s. */
const SOURCE_WAIT_MS = 8_000;

/** Checks ffmpeg and then opens the ingest ports, and repeats what failed (M-44). */
export class VideoReadiness {
  private canEncode = false;
  private isFailureLogged = false;
  /** Monotonic end of the last check, ms. */
  private checkedMs = Number.NEGATIVE_INFINITY;
  private checking: Promise<void> = Promise.resolve();
  private preparing: Promise<void> | null = null;
  private timer: Timer | null = null;
  private isStopped = false;

  constructor(private readonly options: VideoReadinessOptions) {}

  /** Resolves after the first attempt, whatever its result. */
  start(): Promise<void> {
    return this.prepare();
  }

  /**
   * Whether ffmpeg can encode a new source. After a failure it is checked again, so that the first
   * source after a repair is accepted.
   */
  async isReady(): Promise<boolean> {
    if (this.canEncode) return true;
    if (runtime.monotonicMs() - this.checkedMs < SOURCE_RETRY_MS) return false;
    void this.prepare();
    await waitAtMost(SOURCE_WAIT_MS, this.checking);
    return this.canEncode;
  }

  stop(): void {
    this.isStopped = true;
    runtime.clearTimer(this.timer);
  }

  /** One attempt at a time. */
  private prepare(): Promise<void> {
    this.preparing ??= this.attempt().finally(() => {
      this.preparing = null;
    });
    return this.preparing;
  }

  private async attempt(): Promise<void> {
    if (this.isStopped) return;
    runtime.clearTimer(this.timer);
    if (!this.canEncode) {
      this.checking = this.check();
      await this.checking;
    }
    const isComplete = this.canEncode && (await this.options.openPorts());
    if (isComplete || this.isStopped) return;
    this.timer = runtime.setTimeout(() => void this.prepare(), RETRY_MS);
  }

  private async check(): Promise<void> {
    const { checkFfmpeg, logger } = this.options;
    const problem = await checkFfmpeg().catch(
      ({ message }: Error) => `ffmpeg could not be checked: ${message}`,
    );
    this.checkedMs = runtime.monotonicMs();
    this.canEncode = problem === null;
    if (problem === null && this.isFailureLogged) logger.info('video is available again');
    if (problem !== null && !this.isFailureLogged)
      logger.warn(`${problem}; everything except video works`);
    this.isFailureLogged = problem !== null;
  }
}
