import type { MediaConfig } from '../platform/media-settings.ts';
import type { Output } from './packager/segment-sink.ts';
import {
  type Epoch,
  epochName,
  type Part,
  type TrackBytes,
  type PlayableStream,
  type Presentation,
  type TrackId,
} from './segment.ts';
import type { Retention, StreamSegments } from './store/segment-store.ts';

/**
 * What parts are meant to last with low latency, ms: three in a second. hls.js is then 2.1 s behind
 * the camera, and 2.6 s with two.
 */
export const PART_MS = 334;

// Parts are listed for three target durations from the end of a playlist; who is a little behind
// may still ask for those before.
const SEGMENTS_WITH_PARTS = 8;

/** How far behind the camera players should be. */
export function targetLatencyMs({ latency, segmentMs }: MediaConfig): number {
  return latency === 'low' ? 2.5 * segmentMs : 4 * segmentMs;
}

interface SegmentParts {
  /** The name of their epoch. */
  readonly epoch: number | null;
  readonly list: Part[];
  readonly bytes: TrackBytes[];
}

/** A stream's video: what can be played, and where its source's segments go. */
export class Channel implements PlayableStream {
  private ownVersion = 0;
  private readonly partsBySeq = new Map<number, SegmentParts>();
  private readonly partListsBySeq = new Map<number, readonly Part[]>();
  private waiters: (() => void)[] = [];

  constructor(
    readonly streamId: string,
    private readonly segments: StreamSegments,
    private readonly config: MediaConfig,
    private hasEnded: boolean,
  ) {}

  presentation(): Presentation {
    const { segmentMs, latency, dvrMs } = this.config;
    return {
      version: this.version(),
      epochs: this.segments.epochs,
      segments: this.segments.segments,
      parts: this.partListsBySeq,
      isEnded: this.hasEnded,
      segmentMs,
      partMs: latency === 'low' ? PART_MS : null,
      latencyMs: targetLatencyMs(this.config),
      dvrMs: this.segments.retention === 'recording' ? null : dvrMs,
    };
  }

  init(epoch: number, track: TrackId): Uint8Array | null {
    return this.findEpoch(epoch)?.inits.get(track) ?? null;
  }

  segment(epoch: number, seq: number, track: TrackId): Uint8Array | Blob | null {
    const found = this.findEpoch(epoch);
    return found ? this.segments.read(found.number, seq, track) : null;
  }

  part(epoch: number, seq: number, index: number, track: TrackId): Uint8Array | null {
    const parts = this.partsBySeq.get(seq);
    return parts?.epoch === epoch ? (parts.bytes[index]?.get(track) ?? null) : null;
  }

  waitForChange(version: number): Promise<void> {
    if (this.version() > version) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  /** Where a source's segments go. @param failed told when nothing can be made of it */
  sink(failed: Output['failed']): Output {
    const { segments } = this;
    return {
      next: () => {
        const newest = segments.segments.at(-1);
        return {
          epoch: (segments.epochs.at(-1)?.number ?? -1) + 1,
          seq: segments.nextSeq,
          notBeforeMs: newest ? newest.startMs + newest.durationMs : 0,
        };
      },
      epoch: (epoch) => {
        this.removeParts(segments.nextSeq);
        segments.addEpoch(epoch);
      },
      part: (seq, part, bytes) => this.addPart(seq, part, bytes),
      segment: (segment, bytes) => {
        segments.add(segment, bytes);
        this.notifyChange();
      },
      failed,
    };
  }

  setRetention(keeping: Retention): void {
    if (this.segments.retention !== keeping) this.segments.setRetention(keeping);
  }

  isEnded(): boolean {
    return this.hasEnded;
  }

  /** Nothing comes any more: playlists say so from here on. */
  async end(): Promise<void> {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.notifyChange();
    await this.segments.close(true);
  }

  private addPart(seq: number, part: Part, bytes: TrackBytes): void {
    const existing = part.index === 0 ? undefined : this.partsBySeq.get(seq);
    const epoch = this.segments.epochs.at(-1);
    const parts = existing ?? { epoch: epoch ? epochName(epoch) : null, list: [], bytes: [] };
    this.partsBySeq.set(seq, parts);
    this.partListsBySeq.set(seq, parts.list);
    parts.list.push(part);
    parts.bytes.push(bytes);
    this.removeParts(seq - SEGMENTS_WITH_PARTS);
    this.notifyChange();
  }

  /** A segment that came to nothing has left parts; its number is that of the next encoder's first. */
  private removeParts(seq: number): void {
    this.partsBySeq.delete(seq);
    this.partListsBySeq.delete(seq);
  }

  private findEpoch(name: number): Epoch | undefined {
    return this.segments.epochs.find((epoch) => epochName(epoch) === name);
  }

  private version(): number {
    return this.ownVersion + this.segments.version;
  }

  private notifyChange(): void {
    this.ownVersion++;
    const { waiters } = this;
    this.waiters = [];
    for (const resolve of waiters) resolve();
  }
}
