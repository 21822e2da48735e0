import type { Sliced } from '../../platform/slices.ts';
import type { Presentation, Segment, TrackId } from '../segment.ts';
import { SEGMENTS_PER_STEP } from './rendering.ts';
import { targetDurationS } from './target-duration.ts';

/** Measured bit rates of a track, bit/s. */
export interface BitRates {
  readonly average: number;
  /** Peak over any run of segments of 0.5 to 1.5 target durations (RFC 8216bis, 4.4.6.2). */
  readonly peak: number;
}

/**
 * Measures the bit rates of a track. Segments without the track and gaps do not count.
 * @returns null when no segment has this track
 */
export function* bitRates(
  { segments, segmentMs }: Presentation,
  track: TrackId,
): Sliced<BitRates | null> {
  const targetMs = targetDurationS(segmentMs) * 1_000;
  let peak = 0;
  let totalBits = 0;
  let totalMs = 0;
  for (let i = 0; i < segments.length; i++) {
    if (i % SEGMENTS_PER_STEP === 0) yield;
    const lastBits = bitsOf(segments[i] as Segment, track);
    if (lastBits === null) continue;
    totalBits += lastBits;
    totalMs += (segments[i] as Segment).durationMs;
    let runBits = 0;
    let runMs = 0;
    for (let j = i; j >= 0; j--) {
      const segment = segments[j] as Segment;
      const segmentBits = bitsOf(segment, track);
      runMs += segment.durationMs;
      if (segmentBits === null || runMs > 1.5 * targetMs) break;
      runBits += segmentBits;
      if (runMs >= 0.5 * targetMs) peak = Math.max(peak, (runBits / runMs) * 1_000);
    }
  }
  if (totalBits === 0 || totalMs === 0) return null;
  return { average: Math.ceil((totalBits / totalMs) * 1_000), peak: Math.ceil(peak) };
}

function bitsOf({ pieces }: Segment, track: TrackId): number | null {
  const piece = pieces.get(track);
  return piece ? 8 * piece.byteLength : null;
}
