import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { PLAYBACK_LADDER } from '../../protocol/limits.ts';
import { renditionsOf, SIDE_MIN } from './ladder.ts';
import type { SourceInfo } from './packager/encoder.ts';

const source = (width: number, height: number, fps = 30): SourceInfo => ({
  width,
  height,
  frameRate: [fps, 1],
  hasAudio: true,
});

const sizes = (width: number, height: number) =>
  renditionsOf(source(width, height), PLAYBACK_LADDER).map((r) => `${r.width}x${r.height}`);

const anySource = fc.record({
  width: fc.integer({ min: SIDE_MIN, max: 4096 }),
  height: fc.integer({ min: SIDE_MIN, max: 4096 }),
  frameRate: fc.constantFrom<[number, number][]>([30, 1], [30_000, 1_001], [60, 1], [1, 1]),
  hasAudio: fc.boolean(),
});

const anyLadder = fc.uniqueArray(
  fc.record({
    divisor: fc.integer({ min: 1, max: 16 }),
    megabytesPerS: fc.double({ min: 0.1, max: 5, noNaN: true }),
  }),
  { minLength: 1, maxLength: 6, selector: (step) => step.divisor },
);

describe('renditions', () => {
  test('[M-10] the default ladder has the source size, a half and a third', () => {
    expect(sizes(1920, 1080)).toEqual(['1920x1080', '960x540', '640x360']);
    expect(sizes(1280, 720)).toEqual(['1280x720', '640x360', '426x240']);
  });

  test('[M-13] sources of any shape and size get three renditions', () => {
    expect(sizes(640, 480)).toEqual(['640x480', '320x240', '214x160']);
    expect(sizes(720, 1280)).toEqual(['720x1280', '360x640', '240x426']);
    expect(sizes(333, 187)).toEqual(['332x186', '166x94', '112x62']);
    expect(sizes(160, 90)).toEqual(['160x90', '80x46', '54x30']);
  });

  test('[M-10] bit rates are capped by the ladder, and lower for small frames', () => {
    const rates = (width: number, height: number, fps = 30) =>
      renditionsOf(source(width, height, fps), PLAYBACK_LADDER).map((r) => r.maxBitsPerS);
    expect(rates(3840, 2160, 60)).toEqual([19_200_000, 9_600_000, 6_400_000]);
    expect(rates(1920, 1080)).toEqual([10_000_000, 3_535_534, 1_924_501]);
    expect(rates(160, 90, 5)).toEqual([120_000, 120_000, 120_000]);
  });

  test('[M-10] sides are even, within a pixel of the exact size and no larger than the source', () => {
    fc.assert(
      fc.property(anySource, anyLadder, (input, ladder) => {
        const sorted = ladder.toSorted((a, b) => a.divisor - b.divisor);
        const renditions = renditionsOf(input, ladder);
        expect(renditions.length).toBeGreaterThan(0);
        for (const [index, rendition] of renditions.entries()) {
          const divisor = sorted[index]?.divisor ?? Number.NaN;
          expect(rendition.id).toBe(`v${index}`);
          for (const side of ['width', 'height'] as const) {
            expect(rendition[side] % 2).toBe(0);
            expect(rendition[side]).toBeLessThanOrEqual(input[side]);
            expect(Math.abs(rendition[side] - input[side] / divisor)).toBeLessThanOrEqual(1);
          }
          expect(rendition.maxBitsPerS).toBeLessThanOrEqual(
            Math.round((sorted[index]?.megabytesPerS ?? 0) * 8_000_000),
          );
        }
      }),
    );
  });

  test('[M-10] renditions are sorted by size, and only the first may be below 16 pixels', () => {
    fc.assert(
      fc.property(anySource, anyLadder, (input, ladder) => {
        const renditions = renditionsOf(input, ladder);
        for (const [index, { width, height }] of renditions.entries()) {
          const next = renditions[index + 1];
          if (!next) continue;
          expect(next.width).toBeLessThanOrEqual(width);
          expect(next.height).toBeLessThanOrEqual(height);
          expect(Math.min(next.width, next.height)).toBeGreaterThanOrEqual(SIDE_MIN);
        }
      }),
    );
  });
});
