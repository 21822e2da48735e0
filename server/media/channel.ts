import type { MediaConfig } from './media-settings.ts';
import type { Output } from './packager/output.ts';
import type { Part, PieceBytes, Playable, Presentation, TrackId } from './segment.ts';
import type { Keeping, Shelf } from './store/shelf.ts';

/** What parts are meant to last with low latency, ms. */
export const PART_MS = 500;

// Parts are listed for three target durations from the end of a playlist; who is a little behind
// may still ask for those before.
const PART_SEGMENTS = 8;

/** How far behind now players should be: the making of a segment, the hold-back, and half a second. */
export function latencyMsOf({ latency, segmentMs }: MediaConfig): number {
  return latency === 'low' ? 1.5 * segmentMs + 1_000 : 3 * segmentMs + 500;
}

interface Parts {
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
      dvrMs: this.shelf.kept === 'recording' ? null : dvrMs,
    };
  }

  init(epoch: number, track: TrackId): Uint8Array | null {
    return this.shelf.epochs.find(({ number }) => number === epoch)?.inits.get(track) ?? null;
  }

  segment(seq: number, track: TrackId): Uint8Array | Blob | null {
    return this.shelf.read(seq, track);
  }

  part(seq: number, index: number, track: TrackId): Uint8Array | null {
    return this.parts.get(seq)?.bytes[index]?.get(track) ?? null;
  }

  changed(version: number): Promise<void> {
    if (this.version() > version) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Where a source's segments go. @param failed told when nothing can be made of it */
  output(failed: (reason: string) => void): Output {
    const { shelf } = this;
    return {
      next: () => {
        const newest = shelf.segments.at(-1);
        return {
          epoch: (shelf.epochs.at(-1)?.number ?? -1) + 1,
          seq: (newest?.seq ?? -1) + 1,
          notBeforeMs: newest ? newest.startMs + newest.durationMs : 0,
        };
      },
      epoch: (epoch) => shelf.addEpoch(epoch),
      part: (seq, part, bytes) => this.addPart(seq, part, bytes),
      segment: (segment, bytes) => {
        shelf.add(segment, bytes);
        this.rise();
      },
      failed,
    };
  }

  keep(keeping: Keeping): void {
    if (this.shelf.kept !== keeping && this.shelf.kept !== 'memory') this.shelf.keep(keeping);
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
    const parts = this.parts.get(seq) ?? { list: [], bytes: [] };
    this.parts.set(seq, parts);
    this.lists.set(seq, parts.list);
    parts.list.push(part);
    parts.bytes.push(bytes);
    this.parts.delete(seq - PART_SEGMENTS);
    this.lists.delete(seq - PART_SEGMENTS);
    this.rise();
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
