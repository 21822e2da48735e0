import { PLAYBACK_LADDER } from '../../protocol/limits.ts';
import type { LadderStep, SourceInfo } from './packager/encoder.ts';
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
/** Each step is one more picture to encode, for every frame. */
const STEPS_MAX = 6;
/** Smallest divisor and rate that mean anything, and the largest: beyond it, nobody can see. */
const DIVISOR_MAX = 16;
const MEGABYTES_PER_S_MAX = 25;

// What a full HD picture with 30 frames a second takes at most: twice what a sender would use
// for it, so that the cap bounds peaks, not pictures.
const REFERENCE_BITS_PER_S = 10_000_000;
const REFERENCE_PIXELS_PER_S = 1920 * 1080 * 30;
// Small pictures have more detail for each pixel. That bits grow with the power 0.75 of pixels
// is an old rule of thumb, and good enough for a cap.
const POWER = 0.75;
// Below this a key frame a second does not fit.
const BITS_PER_S_MIN = 120_000;

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
      width: divided(source.width, divisor),
      height: divided(source.height, divisor),
      ceiling: megabytesPerS * 8_000_000,
    }))
    .filter(({ width, height }, index) => index === 0 || Math.min(width, height) >= SIDE_MIN)
    .map(({ width, height, ceiling }, index) => {
      const pixelsPerS = (width * height * frames) / seconds;
      const usual = REFERENCE_BITS_PER_S * (pixelsPerS / REFERENCE_PIXELS_PER_S) ** POWER;
      const maxBitsPerS = Math.round(Math.min(ceiling, Math.max(usual, BITS_PER_S_MIN)));
      return { id: `v${index}`, width, height, maxBitsPerS };
    });
}

/**
 * Reads a ladder such as `1:2.4,2:1.2,3:0.8`: for each rendition what width and height are divided
 * by, and the most it may take in MB/s.
 * @throws Error that says what is wrong
 */
export function parseLadder(text: string): LadderStep[] {
  const steps = text.split(',').map((part) => parseStep(part.trim()));
  if (steps.length > STEPS_MAX) throw new Error(`It must have at most ${STEPS_MAX} steps.`);
  steps.sort((a, b) => a.divisor - b.divisor);
  for (const [index, { divisor }] of steps.entries()) {
    if (divisor === steps[index + 1]?.divisor) {
      throw new Error(`It must have the divisor ${divisor} only once.`);
    }
  }
  return steps;
}

function parseStep(text: string): LadderStep {
  const match = /^(\d{1,2}(?:\.\d{1,3})?):(\d{1,2}(?:\.\d{1,3})?)$/.exec(text);
  if (!match) {
    throw new Error('It must be steps such as 1:2.4,2:1.2 (divisor:megabytes a second).');
  }
  const divisor = Number(match[1]);
  const megabytesPerS = Number(match[2]);
  if (divisor < 1 || divisor > DIVISOR_MAX) {
    throw new Error(`It must have divisors from 1 to ${DIVISOR_MAX}.`);
  }
  if (megabytesPerS * 8_000_000 < BITS_PER_S_MIN || megabytesPerS > MEGABYTES_PER_S_MAX) {
    const least = BITS_PER_S_MIN / 8_000_000;
    throw new Error(`It must have rates from ${least} to ${MEGABYTES_PER_S_MAX} MB/s.`);
  }
  return { divisor, megabytesPerS };
}

/** The even number nearest to a side's share, and not above the side. */
function divided(side: number, divisor: number): number {
  const exact = side / divisor;
  const nearest = 2 * Math.round(exact / 2);
  return nearest > side ? nearest - 2 : nearest;
}
