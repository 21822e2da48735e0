import { isGap, type Segment } from '../segment.ts';

// No full disk loses this many segments in a row; everything before a longer gap is dropped, except a show
// before a preview.
const GAPS_MAX = 20_000;
// Recently removed segments stay readable for players with an older playlist, while their files
// exist.
const RECENTLY_REMOVED_MAX = 64;

const NO_PIECES: Segment['pieces'] = new Map();

/**
 * The segments of a stream, one for each sequence number. Segments that were never written or whose
 * files are broken are gaps. Neither the first nor the last entry is a gap.
 */
export class SegmentList {
  /** Oldest first. Changes in place. */
  readonly segments: Segment[] = [];
  private readonly recentlyRemoved: Segment[] = [];

  /** @param previewSeq the number of the first segment of the preview; those before it are a show */
  constructor(private readonly previewSeq: () => number = () => 0) {}

  /** A segment in the list, or one that was removed recently. */
  find(seq: number): Segment | null {
    return (
      this.segments[this.indexOf(seq)] ??
      this.recentlyRemoved.find((each) => each.seq === seq) ??
      null
    );
  }

  /** Appends a segment with a higher number, after gaps for missing ones. */
  add(segment: Segment): void {
    const newest = this.segments.at(-1);
    if (newest && segment.seq !== newest.seq + 1) {
      if (this.isTooLong(segment.seq - newest.seq - 1, newest)) this.segments.length = 0;
      else for (const gap of gapsBetween(newest, segment)) this.segments.push(gap);
    }
    this.segments.push(segment);
  }

  /** Replaces a lost segment by a gap with the same number and time. */
  replaceWithGap({ pieces: _, ...segment }: Segment): void {
    this.replace({ ...segment, pieces: NO_PIECES });
    const index = this.indexOf(segment.seq);
    const before = this.segments.findLastIndex((each, i) => i < index && !isGap(each));
    if (this.isTooLong(index - before, this.segments[before])) this.removeThrough(segment.seq);
    else this.trimLeadingGaps();
  }

  /** Replaces the entry with the segment's number, if there is one. */
  replace(segment: Segment): void {
    const index = this.indexOf(segment.seq);
    if (index in this.segments) this.segments[index] = segment;
  }

  /** Removes all segments up to this number. @returns whether any were removed */
  removeThrough(seq: number): boolean {
    const count = this.indexOf(seq) + 1;
    if (count <= 0 || this.segments.length === 0) return false;
    this.segments.splice(0, count);
    this.trimLeadingGaps();
    return true;
  }

  /** Removes the segments from this number on that end by this time, Unix ms. Later ones follow after gaps. */
  removeBetween(seq: number, endMs: number): void {
    const following = this.segments.splice(Math.max(0, this.indexOf(seq)));
    this.segments.length = this.segments.findLastIndex((each) => !isGap(each)) + 1;
    for (const each of following) if (!isGap(each) && endMsOf(each) > endMs) this.add(each);
  }

  /** Removes segments that ended this long before the newest one. */
  trimToWindow(dvrMs: number): void {
    const newest = this.segments.at(-1);
    if (!newest) return;
    const fromMs = endMsOf(newest) - dvrMs;
    const count = this.segments.findIndex((each) => endMsOf(each) > fromMs);
    if (count <= 0) return;
    this.recentlyRemoved.push(...this.segments.splice(0, count).filter((each) => !isGap(each)));
    this.recentlyRemoved.splice(0, this.recentlyRemoved.length - RECENTLY_REMOVED_MAX);
    this.trimLeadingGaps();
  }

  /** Removes the newest segments that are not retained. @returns whether any were removed */
  truncate(isRetained: (seq: number) => boolean): boolean {
    const length = this.segments.findLastIndex(({ seq }) => isRetained(seq)) + 1;
    if (length === this.segments.length) return false;
    this.segments.length = length;
    return true;
  }

  /** Whether this number of gaps after a segment is too large to be listed. */
  private isTooLong(gaps: number, before: Segment | undefined): boolean {
    return gaps > GAPS_MAX && (before?.seq ?? -1) >= this.previewSeq();
  }

  private indexOf(seq: number): number {
    return seq - (this.segments[0]?.seq ?? 0);
  }

  private trimLeadingGaps(): void {
    const first = this.segments.findIndex((each) => !isGap(each));
    if (first > 0) this.segments.splice(0, first);
  }
}

/** Gaps for the numbers between two segments. */
function gapsBetween(before: Segment, after: Segment): Segment[] {
  const count = after.seq - before.seq - 1;
  const fromMs = endMsOf(before);
  const evenDurationMs = (after.startMs - fromMs) / count;
  // Between two epochs the source may have been disconnected; that time belongs to no segment.
  const isSameEpoch = before.epoch === after.epoch;
  const durationMs = isSameEpoch ? evenDurationMs : Math.min(evenDurationMs, before.durationMs);
  return Array.from({ length: count }, (_, i) => ({
    seq: before.seq + 1 + i,
    epoch: before.epoch,
    startMs: fromMs + i * durationMs,
    durationMs,
    pieces: NO_PIECES,
  }));
}

function endMsOf({ startMs, durationMs }: Segment): number {
  return startMs + durationMs;
}
