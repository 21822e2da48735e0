import { describe, expect, test } from 'bun:test';
import { positionAtMs, recordedAtMs } from './recording-times.ts';

// Two seconds, a gap of eight seconds that the video does not contain, and two more.
const RECORDING = [
  { start: 0, duration: 1, programDateTime: 100_000 },
  { start: 1, duration: 1, programDateTime: 101_000 },
  { start: 2, duration: 1, programDateTime: 110_000 },
  { start: 3, duration: 1, programDateTime: 111_000 },
];

describe('recordedAtMs and positionAtMs', () => {
  test.each([
    [0, 100_000],
    [1.25, 101_250],
    [2, 110_000],
    [3.5, 111_500],
    [4, 112_000],
  ])('map %d s to capture time %d and back', (positionS, atMs) => {
    expect(recordedAtMs(RECORDING, positionS)).toBe(atMs);
    expect(positionAtMs(RECORDING, atMs)).toBe(positionS);
  });

  test('positionAtMs skips a gap', () => {
    expect(positionAtMs(RECORDING, 105_000)).toBe(2);
  });

  test('are limited to the recording', () => {
    expect(positionAtMs(RECORDING, 0)).toBe(0);
    expect(positionAtMs(RECORDING, 999_999)).toBe(4);
    expect(recordedAtMs(RECORDING, -1)).toBe(100_000);
    expect(recordedAtMs(RECORDING, 99)).toBe(112_000);
  });

  test('are null without capture times', () => {
    const undated = [{ start: 0, duration: 1, programDateTime: null }];
    for (const segments of [undated, []]) {
      expect([recordedAtMs(segments, 0), positionAtMs(segments, 0)]).toEqual([null, null]);
    }
  });
});
