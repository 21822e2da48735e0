import type { SourceHealth } from '../../protocol/ingest.ts';
import type { Channel } from './channel.ts';
import type { Packager } from './packager/packager.ts';
import type { SourceEnd, SourceKind, SourceSession } from './source.ts';

/** A source that was taken, from the first byte to the end of its last segment. */
export class LiveSource implements SourceSession {
  readonly closed: Promise<SourceEnd>;
  /** Fulfilled when its last segment is made. */
  readonly over: Promise<void>;
  private readonly close: (end: SourceEnd) => void;
  private readonly finish: () => void;
  private isOpen = true;
  private bytesBefore = 0;
  private lookedMs: number;

  /** @param id of this session, in the database */
  constructor(
    readonly id: string,
    readonly kind: SourceKind,
    readonly channel: Channel,
    makePackager: (failed: (end: SourceEnd) => void) => Packager,
    private readonly nowMs: () => number,
  ) {
    const closed = Promise.withResolvers<SourceEnd>();
    this.closed = closed.promise;
    this.close = closed.resolve;
    const over = Promise.withResolvers<void>();
    this.over = over.promise;
    this.finish = over.resolve;
    this.lookedMs = nowMs();
    this.packager = makePackager((end) => this.stop(end));
  }

  readonly packager: Packager;

  get streamId(): string {
    return this.channel.streamId;
  }

  write(bytes: Uint8Array): boolean {
    return this.isOpen ? this.packager.write(bytes) : true;
  }

  drained(): Promise<void> {
    return Promise.race([this.packager.drained(), this.closed.then(() => {})]);
  }

  end(reason: string): void {
    this.stop({ why: 'left', line: reason });
  }

  /** Ends it from this side. */
  stop(end: SourceEnd): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.close(end);
    void this.packager.end().then(this.finish);
  }

  /** How it has done since it was looked at last. */
  health(): SourceHealth {
    const { info, progress, bytes } = this.packager.state();
    const nowMs = this.nowMs();
    const seconds = (nowMs - this.lookedMs) / 1_000;
    const bitrate = seconds > 0 ? Math.round(((bytes - this.bytesBefore) * 8) / seconds) : null;
    this.bytesBefore = bytes;
    this.lookedMs = nowMs;
    return {
      bitrate,
      fps: progress?.fps ?? null,
      speed: progress?.speed ?? null,
      dropped: progress?.dropped ?? null,
      width: info?.width ?? null,
      height: info?.height ?? null,
    };
  }
}
