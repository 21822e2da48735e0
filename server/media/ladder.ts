import { RENDITION_BITS_PER_S_MIN, type RenditionSetting } from '../platform/media-settings.ts';
import type { SourceInfo } from './packager/encoder.ts';
import type { TrackId } from './segment.ts';

/** One encoded quality of a source. */
export interface Rendition {
  /** `v0` is the largest. */
  readonly id: TrackId;
  /** Even, as 4:2:0 chroma requires. */
  readonly width: number;
  readonly height: number;
  /** Peak bit rate of any segment, boxes included, bit/s. */
  readonly maxBitsPerS: number;
}

/** Smallest side of a frame, px: H.264 encoders reject smaller ones. */
export const SIDE_MIN = 16;

// Cap for full HD at 30 frames a second: twice what senders usually use, so that it limits peaks and
// not quality.
const REFERENCE_BITS_PER_S = 10_000_000;
const REFERENCE_PIXELS_PER_S = 1920 * 1080 * 30;
// Small frames have more detail for each pixel. Bit rate proportional to pixels^0.75 is a rule of
// thumb that suffices for a cap.
const BITRATE_EXPONENT = 0.75;

/**
 * The renditions of a source, largest first. The ladder's rates are ceilings: smaller frames get
 * lower caps by size and frame rate, because players choose by the bandwidth in the playlist and
 * would never choose 640×360 at 19.2 Mbit/s. Renditions with a side below `SIDE_MIN` are omitted,
 * except the first.
 */
export function renditionsOf(source: SourceInfo, ladder: readonly RenditionSetting[]): Rendition[] {
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
      const typicalBitsPerS =
        REFERENCE_BITS_PER_S * (pixelsPerS / REFERENCE_PIXELS_PER_S) ** BITRATE_EXPONENT;
      const maxBitsPerS = Math.round(
        Math.min(ceilingBitsPerS, Math.max(typicalBitsPerS, RENDITION_BITS_PER_S_MIN)),
      );
      return { id: `v${index}`, width, height, maxBitsPerS };
    });
}

/** The even number nearest to `side / divisor`, and not above `side`. */
function evenShare(side: number, divisor: number): number {
  const exact = side / divisor;
  const nearest = 2 * Math.round(exact / 2);
  return nearest > side ? nearest - 2 : nearest;
}
