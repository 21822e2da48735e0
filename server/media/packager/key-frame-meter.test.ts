import { expect, test } from 'bun:test';
import { KeyFrameMeter } from './key-frame-meter.ts';

function meterAfter(...units: readonly (readonly [sourceMs: number, isKey: boolean])[]) {
  const meter = new KeyFrameMeter();
  for (const [sourceMs, isEntryPoint] of units) meter.observe({ sourceMs, isEntryPoint });
  return meter.intervalMs();
}

test('[M-34] the interval of key frames is that of the last two, or the time since the last one', () => {
  expect(meterAfter()).toBeNull();
  expect(meterAfter([1_000, true])).toBeNull();
  expect(meterAfter([1_000, true], [1_500, false])).toBe(500);
  expect(meterAfter([0, true], [2_000, true], [2_500, false])).toBe(2_000);
  expect(meterAfter([0, true], [2_000, true], [12_000, false])).toBe(10_000);
});

test('[M-34] a source clock that is set back gives no interval until the next key frames', () => {
  expect(meterAfter([60_000, true], [62_000, true], [100, false])).toBe(2_000);
  expect(meterAfter([60_000, true], [100, true], [1_100, true])).toBe(1_000);
});
