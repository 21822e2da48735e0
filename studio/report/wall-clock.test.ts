import { describe, expect, test } from 'bun:test';
import { filmedAtMs, placeFilmedAt } from './wall-clock.ts';

// Two seconds, then a hole of eight in what was filmed, of which the video knows nothing, and two more.
const RECORDING = [
  { start: 0, duration: 1, programDateTime: 100_000 },
  { start: 1, duration: 1, programDateTime: 101_000 },
  { start: 2, duration: 1, programDateTime: 110_000 },
  { start: 3, duration: 1, programDateTime: 111_000 },
];

describe('a recording', () => {
  test.each([
    [0, 100_000],
    [1.25, 101_250],
    [2, 110_000],
    [3.5, 111_500],
    [4, 112_000],
  ])('shows at %d s what was filmed at %d, and the other way round', (placeS, atMs) => {
    expect(filmedAtMs(RECORDING, placeS)).toBe(atMs);
    expect(placeFilmedAt(RECORDING, atMs)).toBe(placeS);
  });

  test('goes on to what was filmed next from where nothing was', () => {
    expect(placeFilmedAt(RECORDING, 105_000)).toBe(2);
  });

  test('has nothing before its begin and after its end', () => {
    expect(placeFilmedAt(RECORDING, 0)).toBe(0);
    expect(placeFilmedAt(RECORDING, 999_999)).toBe(4);
    expect(filmedAtMs(RECORDING, -1)).toBe(100_000);
    expect(filmedAtMs(RECORDING, 99)).toBe(112_000);
  });

  test('that does not say when it was filmed is known by nothing', () => {
    const undated = [{ start: 0, duration: 1, programDateTime: null }];
    for (const segments of [undated, []]) {
      expect([filmedAtMs(segments, 0), placeFilmedAt(segments, 0)]).toEqual([null, null]);
    }
  });
});
