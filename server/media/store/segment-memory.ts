import type { PieceBytes, Segment, TrackId } from '../segment.ts';

/** A segment in memory. */
export interface HeldSegment {
  readonly segment: Segment;
  readonly bytes: PieceBytes;
  readonly byteLength: number;
}

/** The newest segments of a stream, and those that are not on disk yet. */
export class SegmentMemory {
  /** All of them together. */
  byteLength = 0;
  // By rising number.
  private readonly held = new Map<number, HeldSegment>();

  get size(): number {
    return this.held.size;
  }

  add(segment: Segment, bytes: PieceBytes): void {
    let byteLength = 0;
    for (const piece of bytes.values()) byteLength += piece.byteLength;
    this.held.set(segment.seq, { segment, bytes, byteLength });
    this.byteLength += byteLength;
  }

  read(seq: number, track: TrackId): Uint8Array | null {
    return this.held.get(seq)?.bytes.get(track) ?? null;
  }

  /** The oldest that comes after this number. */
  after(seq: number): HeldSegment | null {
    for (const [each, held] of this.held) if (each > seq) return held;
    return null;
  }

  forget(seq: number): void {
    this.byteLength -= this.held.get(seq)?.byteLength ?? 0;
    this.held.delete(seq);
  }
}
