/** A segment of a recording: its position in the video and its capture time. */
export interface RecordedSegment {
  /** Position in the video, s. */
  readonly start: number;
  /** Duration, s. */
  readonly duration: number;
  /** Capture time, Unix ms; null: not in the playlist. */
  readonly programDateTime: number | null;
}

interface DatedSegment extends RecordedSegment {
  readonly programDateTime: number;
}

/** Capture time of a position in the video, Unix ms; null: unknown. @param positionS s */
export function recordedAtMs(
  segments: readonly RecordedSegment[],
  positionS: number,
): number | null {
  const dated = datedOf(segments);
  const segment = dated.findLast(({ start }) => start <= positionS) ?? dated[0];
  if (!segment) return null;
  const withinS = Math.min(Math.max(0, positionS - segment.start), segment.duration);
  return segment.programDateTime + withinS * 1_000;
}

/**
 * Position in the video of a capture time, s: in a gap the next segment, after the end the end;
 * null: unknown.
 * @param atMs Unix ms
 */
export function positionAtMs(segments: readonly RecordedSegment[], atMs: number): number | null {
  const dated = datedOf(segments);
  const segment =
    dated.find(({ programDateTime, duration }) => atMs < programDateTime + duration * 1_000) ??
    dated.at(-1);
  if (!segment) return null;
  const withinS = (atMs - segment.programDateTime) / 1_000;
  return segment.start + Math.min(Math.max(0, withinS), segment.duration);
}

function datedOf(segments: readonly RecordedSegment[]): readonly DatedSegment[] {
  return segments.filter((segment): segment is DatedSegment => segment.programDateTime !== null);
}
