import { expect, test } from 'bun:test';
import { resultOf } from '../../../test/support/media/playlist-texts.ts';
import type { Presentation, Segment } from '../segment.ts';
import { bitRates } from './bit-rates.ts';

/** Segments of these sizes; null: a gap. @param durationMs of each */
function presentation(bytes: readonly (number | null)[], durationMs = 1_000): Presentation {
  const segments = bytes.map((byteLength, seq): Segment => {
    const piece = { startTicks: 0, durationTicks: 0, byteLength: byteLength ?? 0 };
    const pieces = new Map(byteLength === null ? [] : [['v0', piece]]);
    return { seq, epoch: 0, startMs: seq * durationMs, durationMs: durationMs, pieces };
  });
  return {
    ...{ version: 1, epochs: [], segments, parts: new Map(), isEnded: false, reopenedMs: null },
    ...{ segmentMs: 1_000, partMs: null, latencyMs: 4_000, dvrMs: null },
  };
}

test('[M-24] average and peak ignore gaps', () => {
  expect(resultOf(bitRates(presentation([100, 300, 200]), 'v0'))).toEqual({
    average: 1_600,
    peak: 2_400,
  });
  expect(resultOf(bitRates(presentation([100, null, null, 300, null, 200]), 'v0'))).toEqual({
    average: 1_600,
    peak: 2_400,
  });
  expect(resultOf(bitRates(presentation([100, 300, 200]), 'v1'))).toBeNull();
});

test('[M-24] the peak is measured over contiguous segments', () => {
  expect(resultOf(bitRates(presentation([100, 300, 100], 400), 'v0'))?.peak).toBe(4_000);
  expect(resultOf(bitRates(presentation([100, null, 300, 100], 400), 'v0'))?.peak).toBe(4_000);
  expect(resultOf(bitRates(presentation([300, null, 300, 100], 400), 'v0'))?.peak).toBe(4_000);
});
