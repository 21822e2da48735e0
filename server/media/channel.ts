import type { MediaConfig } from './media-settings.ts';
import type { Output } from './packager/output.ts';
import {
  type Epoch,
  epochName,
  type Part,
  type PieceBytes,
  type Playable,
  type Presentation,
  type TrackId,
} from './segment.ts';
import type { Keeping, Shelf } from './store/segment-store.ts';

/**
 * What parts are meant to last with low latency, ms: three in a second. hls.js is then 2.1 s behind
 * the camera, and 2.6 s with two.
 */
export const PART_MS = 334;

// Parts are listed for three target durations from the end of a playlist; who is a little behind
// may still ask for those before.
const PART_SEGMENTS = 8;

/** How far behind the camera players should be. */
export function latencyMsOf({ latency, segmentMs }: MediaConfig): number {
  return latency === 'low' ? 2.5 * segmentMs : 4 * segmentMs;
}

interface Parts {
  /** The name of their epoch. */
  readonly epoch: number | null;
  readonly list: Part[];
  readonly bytes: PieceBytes[];
}

/** A stream's video: what can be played, and where its source's segments go. */
export class Channel implements Playable {
  private own = 0;
  private readonly parts = new Map<number, Parts>();
  private readonly lists = new Map<number, readonly Part[]>();
  private waiting: (() => void)[] = [];

  constructor(
    readonly streamId: string,
    private readonly shelf: Shelf,
    private readonly config: MediaConfig,
    private hasEnded: boolean,
  ) {}

  presentation(): Presentation {
    const { segmentMs, latency, dvrMs } = this.config;
    return {
      version: this.version(),
      epochs: this.shelf.epochs,
      segments: this.shelf.segments,
      parts: this.lists,
      isEnded: this.hasEnded,
      segmentMs,
      partMs: latency === 'low' ? PART_MS : null,
      latencyMs: latencyMsOf(this.config),
      dvrMs: this.shelf.keeping === 'recording' ? null : dvrMs,
    };
  }

  init(epoch: number, track: TrackId): Uint8Array | null {
    return this.epochNamed(epoch)?.inits.get(track) ?? null;
  }

  segment(epoch: number, seq: number, track: TrackId): Uint8Array | Blob | null {
    const found = this.epochNamed(epoch);
    return found ? this.shelf.read(found.number, seq, track) : null;
  }

  part(epoch: number, seq: number, index: number, track: TrackId): Uint8Array | null {
    const parts = this.parts.get(seq);
    return parts?.epoch === epoch ? (parts.bytes[index]?.get(track) ?? null) : null;
  }

  changed(version: number): Promise<void> {
    if (this.version() > version) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Where a source's segments go. @param failed told when nothing can be made of it */
  output(failed: Output['failed']): Output {
    const { shelf } = this;
    return {
      next: () => {
        const newest = shelf.segments.at(-1);
        return {
          epoch: (shelf.epochs.at(-1)?.number ?? -1) + 1,
          seq: shelf.nextSeq,
          notBeforeMs: newest ? newest.startMs + newest.durationMs : 0,
        };
      },
      epoch: (epoch) => {
        this.forgetParts(shelf.nextSeq);
        shelf.addEpoch(epoch);
      },
      part: (seq, part, bytes) => this.addPart(seq, part, bytes),
      segment: (segment, bytes) => {
        shelf.add(segment, bytes);
        this.rise();
      },
      failed,
    };
  }

  keep(keeping: Keeping): void {
    if (this.shelf.keeping !== keeping) this.shelf.keep(keeping);
  }

  isEnded(): boolean {
    return this.hasEnded;
  }

  /** Nothing comes any more: playlists say so from here on. */
  async end(): Promise<void> {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.rise();
    await this.shelf.close(true);
  }

  private addPart(seq: number, part: Part, bytes: PieceBytes): void {
    const begun = part.index === 0 ? undefined : this.parts.get(seq);
    const epoch = this.shelf.epochs.at(-1);
    const parts = begun ?? { epoch: epoch ? epochName(epoch) : null, list: [], bytes: [] };
    this.parts.set(seq, parts);
    this.lists.set(seq, parts.list);
    parts.list.push(part);
    parts.bytes.push(bytes);
    this.forgetParts(seq - PART_SEGMENTS);
    this.rise();
  }

  /** A segment that came to nothing has left parts; its number is that of the next encoder's first. */
  private forgetParts(seq: number): void {
    this.parts.delete(seq);
    this.lists.delete(seq);
  }

  private epochNamed(name: number): Epoch | undefined {
    return this.shelf.epochs.find((epoch) => epochName(epoch) === name);
  }

  private version(): number {
    return this.own + this.shelf.version;
  }

  private rise(): void {
    this.own++;
    const { waiting } = this;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
