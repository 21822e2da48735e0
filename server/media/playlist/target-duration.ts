/**
 * The EXT-X-TARGETDURATION of a stream, s. It may not change while a playlist lives (RFC 8216,
 * 6.2.1), so it follows from what segments are meant to last and not from those there are. It is
 * not made larger to have room: players stay three of it behind, so a second more here is three
 * seconds more of latency. The room there is, is in the rounding: a segment may last half a second
 * more than this, see `longestSegmentMs`.
 */
export function targetDurationS(segmentMs: number): number {
  return Math.max(1, Math.ceil(segmentMs / 1_000));
}

// Rounded to the nearest second, a segment's duration is at most the target duration (RFC 8216,
// 4.3.3.1). A tenth is left for a hole between the tracks' fragments.
const ROUNDING_MS = 400;

/** The most a segment may last, ms. A source that makes longer ones gets another epoch. */
export function longestSegmentMs(segmentMs: number): number {
  return targetDurationS(segmentMs) * 1_000 + ROUNDING_MS;
}

// A half of a segment is not a whole number of frames at each rate. With some more a part can take
// the odd one, and what sound has more by its own frames; else most segments would end in a part of
// one frame. And parts that are as long as they are meant to be are still over 85 % of this.
const PART_TARGET_RATIO = 1.12;

/** The most a part may last, ms: what EXT-X-PART-INF says (RFC 8216bis, 4.4.3.7). */
export function longestPartMs(partMs: number): number {
  return Math.round(partMs * PART_TARGET_RATIO);
}
