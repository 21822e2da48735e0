import type { Logger } from 'pino';
import type { SourceHealth } from '../../protocol/ingest.ts';
import type { Channel } from './channel.ts';
import type { Packager } from './packager/packager.ts';
import type { SourceEnd, SourceKind, SourceSession } from './source.ts';

/** An admitted source, from its first byte to the end of its last segment. */
export class LiveSource implements SourceSession {
  readonly packager: Packager;
  private readonly closing = Promise.withResolvers<SourceEnd>();
  readonly closed = this.closing.promise;
  private readonly finishing = Promise.withResolvers<void>();
  /** Resolves when the source's last segment is complete. */
  readonly finished = this.finishing.promise;
  /** Whether it accepts bytes; the lease of a source that has ended is not renewed. */
  isOpen = true;
  isFinished = false;
  /** The end of back pressure. Not a race with `closed`, which would keep a promise of each pause. */
  private resuming: PromiseWithResolvers<void> | null = null;
  private lastHealthBytes = 0;
  private lastHealthMs: number;

  /**
   * @param id session id of its lease in the database
   * @param producer the account of its stream
   */
  constructor(
    readonly id: string,
    readonly producer: string,
    readonly kind: SourceKind,
    readonly channel: Channel,
    createPackager: (onSourceFailed: (end: SourceEnd) => void) => Packager,
    private readonly nowMs: () => number,
    private readonly logger: Logger,
  ) {
    this.lastHealthMs = nowMs();
    this.packager = createPackager((end) => this.stop(end));
  }

  get streamId(): string {
    return this.channel.streamId;
  }

  write(bytes: Uint8Array): boolean {
    return this.isOpen ? this.packager.write(bytes) : true;
  }

  drained(): Promise<void> {
    if (!this.isOpen) return Promise.resolve();
    if (!this.resuming) {
      this.resuming = Promise.withResolvers();
      const resume = () => this.resume();
      this.packager.drained().then(resume, resume);
    }
    return this.resuming.promise;
  }

  private resume(): void {
    this.resuming?.resolve();
    this.resuming = null;
  }

  end(reason: string): void {
    this.stop({ reason: 'left', message: reason });
  }

  /** Ends the source, at the request of the service; later calls have no effect. */
  stop(end: SourceEnd): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.resume();
    this.closing.resolve(end);
    this.packager
      .end()
      .catch((error) => this.logger.error({ err: error }, 'the last segment of a source is lost'))
      .finally(() => {
        this.isFinished = true;
        this.finishing.resolve();
      });
  }

  /** Bit rate since the previous call, and the encoder's last report. */
  health(): SourceHealth {
    const { info, progress, keyFrameIntervalMs, bytes } = this.packager.state();
    const nowMs = this.nowMs();
    const seconds = (nowMs - this.lastHealthMs) / 1_000;
    const bitrate = seconds > 0 ? Math.round(((bytes - this.lastHealthBytes) * 8) / seconds) : null;
    this.lastHealthBytes = bytes;
    this.lastHealthMs = nowMs;
    return {
      bitrate,
      fps: progress?.fps ?? null,
      speed: progress?.speed ?? null,
      dropped: progress?.dropped ?? null,
      width: info?.width ?? null,
      height: info?.height ?? null,
      hasAudio: info?.hasAudio ?? null,
      keyFrameIntervalMs: keyFrameIntervalMs === null ? null : Math.round(keyFrameIntervalMs),
    };
  }
}
