import { isGap, type Segment } from '../segment.ts';

// More numbers than these no full disk has lost: what is before such a hole is not shown.
const HOLE_MAX = 20_000;
// Segments that have just left the list are given to who has an older one, as long as their files
// are there.
const LEFT_MAX = 64;

const NOTHING: Segment['pieces'] = new Map();

/**
 * The segments of a stream, one for each number. Those that the disk did not take, and those whose
 * files are broken, are gaps; the list begins and ends with a segment that is there.
 */
export class SegmentList {
  /** Oldest first; it grows and shrinks in place. */
  readonly segments: Segment[] = [];
  private readonly left: Segment[] = [];

  /** @param stored by rising number, with holes */
  constructor(stored: readonly Segment[]) {
    for (const segment of stored) this.add(segment);
  }

  /** One that is in the list, or has just left it. */
  find(seq: number): Segment | null {
    return this.segments[this.indexOf(seq)] ?? this.left.find((each) => each.seq === seq) ?? null;
  }

  /** Adds the newest, after gaps for the numbers that came to nothing. */
  add(segment: Segment): void {
    const newest = this.segments.at(-1);
    const gaps = newest ? gapsBetween(newest, segment) : [];
    if (!gaps) this.segments.length = 0;
    this.segments.push(...(gaps ?? []), segment);
  }

  /** A segment is lost: its number and its time stay. */
  lose({ pieces: _, ...segment }: Segment): void {
    this.put({ ...segment, pieces: NOTHING });
    const index = this.indexOf(segment.seq);
    const before = this.segments.findLastIndex((each, i) => i < index && !isGap(each));
    if (index - before > HOLE_MAX) this.leaveTo(segment.seq);
    else this.leaveGaps();
  }

  /** Puts a segment where its number is, if that is in the list. */
  put(segment: Segment): void {
    const index = this.indexOf(segment.seq);
    if (index in this.segments) this.segments[index] = segment;
  }

  /** All leave up to this number. @returns whether there were any */
  leaveTo(seq: number): boolean {
    const left = this.indexOf(seq) + 1;
    if (left <= 0 || this.segments.length === 0) return false;
    this.segments.splice(0, left);
    this.leaveGaps();
    return true;
  }

  /** Those leave that ended so long before the newest did. */
  leaveWindow(dvrMs: number): void {
    const newest = this.segments.at(-1);
    if (!newest) return;
    const fromMs = endMsOf(newest) - dvrMs;
    const left = this.segments.findIndex((each) => endMsOf(each) > fromMs);
    if (left <= 0) return;
    this.left.push(...this.segments.splice(0, left).filter((each) => !isGap(each)));
    this.left.splice(0, this.left.length - LEFT_MAX);
    this.leaveGaps();
  }

  /** The newest leave that are not kept. @returns whether there were any */
  leaveFromEnd(isKept: (seq: number) => boolean): boolean {
    const kept = this.segments.findLastIndex(({ seq }) => isKept(seq)) + 1;
    if (kept === this.segments.length) return false;
    this.segments.length = kept;
    return true;
  }

  private indexOf(seq: number): number {
    return seq - (this.segments[0]?.seq ?? 0);
  }

  private leaveGaps(): void {
    const first = this.segments.findIndex((each) => !isGap(each));
    if (first > 0) this.segments.splice(0, first);
  }
}

/** Gaps for the numbers between two segments; null when there are too many. */
function gapsBetween(before: Segment, after: Segment): Segment[] | null {
  const count = after.seq - before.seq - 1;
  if (count > HOLE_MAX) return null;
  const fromMs = endMsOf(before);
  const evenMs = (after.startMs - fromMs) / count;
  // Between two epochs the source may have been unavailable, which is no part of any segment.
  const isSame = before.epoch === after.epoch;
  const durationMs = isSame ? evenMs : Math.min(evenMs, before.durationMs);
  return Array.from({ length: count }, (_, i) => ({
    seq: before.seq + 1 + i,
    epoch: before.epoch,
    startMs: fromMs + i * durationMs,
    durationMs,
    pieces: NOTHING,
  }));
}

function endMsOf({ startMs, durationMs }: Segment): number {
  return startMs + durationMs;
}
