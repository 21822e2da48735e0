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
  // In ascending order of sequence numbers. An array: an iterator that did not end would keep all later ones.
  private segments: BufferedSegment[] = [];

  get size(): number {
    return this.segments.length;
  }

  add(segment: Segment, bytes: TrackBytes): void {
    let byteLength = 0;
    for (const piece of bytes.values()) byteLength += piece.byteLength;
    this.segments.push({ segment, bytes, byteLength });
    this.byteLength += byteLength;
  }

  read(seq: number, track: TrackId): Uint8Array | null {
    // Players ask for the newest most.
    return this.segments.findLast(({ segment }) => segment.seq === seq)?.bytes.get(track) ?? null;
  }

  /** The oldest segment after this sequence number. */
  firstAfter(seq: number): BufferedSegment | null {
    return this.segments.find(({ segment }) => segment.seq > seq) ?? null;
  }

  /** Removes all segments up to this sequence number. */
  removeThrough(seq: number): void {
    this.keep(({ segment }) => segment.seq > seq);
  }

  remove(seq: number): void {
    this.keep(({ segment }) => segment.seq !== seq);
  }

  private keep(isKept: (buffered: BufferedSegment) => boolean): void {
    this.segments = this.segments.filter(isKept);
    this.byteLength = this.segments.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }
}
