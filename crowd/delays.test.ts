import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { DelayHistogram, RecentDelays } from './delays.ts';

test('DelayHistogram percentiles equal those of the sorted delays', () => {
  const delays = fc.array(fc.integer({ min: 0, max: 1_999 }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(delays, (all) => {
      const histogram = new DelayHistogram();
      for (const ms of all) histogram.add(ms);
      const sorted = [...all].sort((a, b) => a - b);
      const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
      expect(histogram.percentiles()).toEqual({ p50Ms: at(0.5), p99Ms: at(0.99) });
    }),
  );
});

test('DelayHistogram counts delays below 0 as 0 and above 2 s as 2 s; its percentiles are 0 when empty', () => {
  const histogram = new DelayHistogram();
  expect(histogram.percentiles()).toEqual({ p50Ms: 0, p99Ms: 0 });
  histogram.add(-3);
  expect(histogram.percentiles()).toEqual({ p50Ms: 0, p99Ms: 0 });
  for (let times = 0; times < 9; times++) histogram.add(60_000);
  expect(histogram.percentiles()).toEqual({ p50Ms: 2_000, p99Ms: 2_000 });
});

test('RecentDelays drops delays after ten seconds', () => {
  const recent = new RecentDelays();
  for (let nowMs = 0; nowMs < 10_000; nowMs += 10) recent.add(900, nowMs);
  for (let nowMs = 10_000; nowMs < 20_000; nowMs += 10) recent.add(5, nowMs);
  recent.add(5, 20_000);
  expect(recent.percentiles()).toEqual({ p50Ms: 5, p99Ms: 5 });
});
