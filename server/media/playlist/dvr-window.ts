import { firstIndex } from '../../platform/first-index.ts';
import { isGap, type Presentation, type Segment } from '../segment.ts';
import { epochsOf } from './epochs.ts';

/**
 * The segments that end within this time before the end of the newest one, without leading gaps.
 * @returns the same array when these are all segments
 */
export function dvrWindow(segments: readonly Segment[], windowMs: number): readonly Segment[] {
  const newest = segments.at(-1);
  if (!newest) return segments;
  const fromMs = endMsOf(newest) - windowMs;
  // Segments are in the order of their times.
  let first = firstIndex(segments, (segment) => endMsOf(segment) > fromMs);
  if (first === 0) return segments;
  while (isGap(segments[first] as Segment)) first++;
  return segments.slice(first);
}

/**
 * A presentation with the segments of its DVR window only. The live playlist of a recording keeps
 * this window after the end: its media sequence number must not decrease (RFC 8216, 6.2.2).
 */
export function withinDvrWindow(presentation: Presentation): Presentation {
  const { epochs, segments, dvrMs } = presentation;
  const window = dvrMs === null ? segments : dvrWindow(segments, dvrMs);
  if (window === segments) return presentation;
  return { ...presentation, segments: window, epochs: epochsOf(epochs, window) };
}

/** Whether the segments of an ended stream reach further back than its live playlists did. */
export function exceedsDvrWindow({ isEnded, segments, dvrMs }: Presentation): boolean {
  return isEnded && dvrMs !== null && dvrWindow(segments, dvrMs) !== segments;
}

function endMsOf({ startMs, durationMs }: Segment): number {
  return startMs + durationMs;
}
