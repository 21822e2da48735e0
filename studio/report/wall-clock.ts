/** A segment of a recording: where it is in the video, and when it was filmed. */
export interface FilmedSegment {
  /** In the video, s. */
  readonly start: number;
  /** s. */
  readonly duration: number;
  /** When it was filmed, Unix ms; null: the playlist does not say. */
  readonly programDateTime: number | null;
}

/** A segment of which it is known when it was filmed. */
interface Dated extends FilmedSegment {
  readonly programDateTime: number;
}

/** When the frame at a place of the video was filmed, Unix ms; null: not known. @param placeS s */
export function filmedAtMs(segments: readonly FilmedSegment[], placeS: number): number | null {
  const dated = datedOf(segments);
  const segment = dated.findLast(({ start }) => start <= placeS) ?? dated[0];
  if (!segment) return null;
  const withinS = Math.min(Math.max(0, placeS - segment.start), segment.duration);
  return segment.programDateTime + withinS * 1_000;
}

/**
 * Where in the video a moment is, s: the next one that was filmed, where it was not, and the end
 * after it; null: nothing is known.
 * @param atMs Unix ms
 */
export function placeFilmedAt(segments: readonly FilmedSegment[], atMs: number): number | null {
  const dated = datedOf(segments);
  const segment =
    dated.find(({ programDateTime, duration }) => atMs < programDateTime + duration * 1_000) ??
    dated.at(-1);
  if (!segment) return null;
  const withinS = (atMs - segment.programDateTime) / 1_000;
  return segment.start + Math.min(Math.max(0, withinS), segment.duration);
}

function datedOf(segments: readonly FilmedSegment[]): readonly Dated[] {
  return segments.filter((segment): segment is Dated => segment.programDateTime !== null);
}
