/**
 * The EXT-X-TARGETDURATION of a stream, s. It must not change during a stream (RFC 8216, 6.2.1), so it
 * is derived from the configured and not from the actual durations. It has no margin: players stay
 * three target durations behind, so that one second more costs three seconds of latency. The margin
 * is in the rounding, see `longestSegmentMs`.
 */
export function targetDurationS(segmentMs: number): number {
  return Math.max(1, Math.ceil(segmentMs / 1_000));
}

// The duration of a segment, rounded to the nearest second, must not exceed the target duration
// (RFC 8216, 4.3.3.1). 100 ms are left for gaps between fragments.
const ROUNDING_MS = 400;

/** Longest allowed segment, ms. A source with longer ones gets a new epoch. */
export function longestSegmentMs(segmentMs: number): number {
  return targetDurationS(segmentMs) * 1_000 + ROUNDING_MS;
}

// Parts are whole frames, which do not divide a segment evenly at each rate. With this margin a part
// can take an odd frame and longer audio frames; otherwise most segments would end with a part of one
// frame. Parts of the target duration still exceed 85 % of this limit, as required.
const PART_TARGET_RATIO = 1.12;

/** Longest allowed part, ms: PART-TARGET of EXT-X-PART-INF (RFC 8216bis, 4.4.3.7). */
export function longestPartMs(partMs: number): number {
  return Math.round(partMs * PART_TARGET_RATIO);
}
