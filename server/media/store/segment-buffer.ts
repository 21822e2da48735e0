import type { Segment, TrackBytes, TrackId } from '../segment.ts';

/** A segment and its bytes in memory. */
export interface BufferedSegment {
  readonly segment: Segment;
  readonly bytes: TrackBytes;
  readonly byteLength: number;
}

/** Memory for the newest segments of a stream and for those not written to disk yet. */
export class SegmentBuffer {
  byteLength = 0;
  // In ascending order of sequence numbers.
  private readonly segments = new Map<number, BufferedSegment>();

  get size(): number {
    return this.segments.size;
  }

  add(segment: Segment, bytes: TrackBytes): void {
    let byteLength = 0;
    for (const piece of bytes.values()) byteLength += piece.byteLength;
    this.segments.set(segment.seq, { segment, bytes, byteLength });
    this.byteLength += byteLength;
  }

  read(seq: number, track: TrackId): Uint8Array | null {
    return this.segments.get(seq)?.bytes.get(track) ?? null;
  }

  /** The oldest segment after this sequence number. */
  firstAfter(seq: number): BufferedSegment | null {
    for (const [each, buffered] of this.segments) if (each > seq) return buffered;
    return null;
  }

  /** Removes all segments up to this sequence number. */
  removeThrough(seq: number): void {
    for (const each of this.segments.keys()) {
      if (each > seq) return;
      this.remove(each);
    }
  }

  remove(seq: number): void {
    this.byteLength -= this.segments.get(seq)?.byteLength ?? 0;
    this.segments.delete(seq);
  }
}
