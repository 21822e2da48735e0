import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { DelayHistogram, RecentDelays } from './delays.ts';

test('percentiles equal those of the sorted delays', () => {
  const delays = fc.array(fc.integer({ min: 0, max: 1_999 }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(delays, (all) => {
      const lateness = new DelayHistogram();
      for (const ms of all) lateness.add(ms);
      const sorted = [...all].sort((a, b) => a - b);
      const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
      expect(lateness.percentiles()).toEqual({ p50Ms: at(0.5), p99Ms: at(0.99) });
    }),
  );
});

test('delays out of range count at its ends; percentiles of none are 0', () => {
  const lateness = new DelayHistogram();
  expect(lateness.percentiles()).toEqual({ p50Ms: 0, p99Ms: 0 });
  lateness.add(-3);
  expect(lateness.percentiles()).toEqual({ p50Ms: 0, p99Ms: 0 });
  for (let times = 0; times < 9; times++) lateness.add(60_000);
  expect(lateness.percentiles()).toEqual({ p50Ms: 2_000, p99Ms: 2_000 });
});

test('RecentDelays drops delays after ten seconds', () => {
  const recent = new RecentDelays();
  for (let nowMs = 0; nowMs < 10_000; nowMs += 10) recent.add(900, nowMs);
  for (let nowMs = 10_000; nowMs < 20_000; nowMs += 10) recent.add(5, nowMs);
  recent.add(5, 20_000);
  expect(recent.percentiles()).toEqual({ p50Ms: 5, p99Ms: 5 });
});
