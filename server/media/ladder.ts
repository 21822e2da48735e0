import { PLAYBACK_LADDER } from '../../protocol/limits.ts';
import { type LadderStep, RENDITION_BITS_PER_S_MIN } from '../platform/media-settings.ts';
import type { SourceInfo } from './packager/encoder.ts';
import type { TrackId } from './segment.ts';

/** A quality that a source is encoded in. */
export interface Rendition {
  /** `v0` is the largest. */
  readonly id: TrackId;
  /** Even, as 4:2:0 pictures must be. */
  readonly width: number;
  readonly height: number;
  /** The most that any of its segments takes, all boxes counted, bit/s. */
  readonly maxBitsPerS: number;
}

/** The ladder of the interface (Playback variants), which is the default. */
export const DEFAULT_LADDER: readonly LadderStep[] = PLAYBACK_LADDER;

/** Smallest side of a picture, px: smaller ones are below what H.264 encoders take. */
export const SIDE_MIN = 16;

// What a full HD picture with 30 frames a second takes at most: twice what a sender would use
// for it, so that the cap bounds peaks, not pictures.
const REFERENCE_BITS_PER_S = 10_000_000;
const REFERENCE_PIXELS_PER_S = 1920 * 1080 * 30;
// Small pictures have more detail for each pixel. That bits grow with the power 0.75 of pixels
// is an old rule of thumb, and good enough for a cap.
const BITRATE_EXPONENT = 0.75;

/**
 * The renditions that a source is encoded in, largest first. The ladder's rates are ceilings.
 * Smaller pictures get lower ones that follow their size and frame rate, because players choose by
 * what playlists say a rendition takes: 640×360 that claims 19.2 Mbit/s would never be chosen.
 * Steps that would make a side smaller than `SIDE_MIN` are left out, except the first.
 */
export function renditionsOf(source: SourceInfo, ladder: readonly LadderStep[]): Rendition[] {
  const sorted = ladder.toSorted((a, b) => a.divisor - b.divisor);
  const [frames, seconds] = source.frameRate;
  return sorted
    .map(({ divisor, megabytesPerS }) => ({
      width: evenShare(source.width, divisor),
      height: evenShare(source.height, divisor),
      ceilingBitsPerS: megabytesPerS * 8_000_000,
    }))
    .filter(({ width, height }, index) => index === 0 || Math.min(width, height) >= SIDE_MIN)
    .map(({ width, height, ceilingBitsPerS }, index) => {
      const pixelsPerS = (width * height * frames) / seconds;
      const typical =
        REFERENCE_BITS_PER_S * (pixelsPerS / REFERENCE_PIXELS_PER_S) ** BITRATE_EXPONENT;
      const maxBitsPerS = Math.round(
        Math.min(ceilingBitsPerS, Math.max(typical, RENDITION_BITS_PER_S_MIN)),
      );
      return { id: `v${index}`, width, height, maxBitsPerS };
    });
}

/** The even number nearest to a side's share, and not above the side. */
function evenShare(side: number, divisor: number): number {
  const exact = side / divisor;
  const nearest = 2 * Math.round(exact / 2);
  return nearest > side ? nearest - 2 : nearest;
}
