import { describe, expect, test } from 'bun:test';
import { FEED, HEARTBEAT, PERIOD_MS, REQUESTS_PER_PERIOD, scheduleOf } from './schedule.ts';

describe('the schedule of polling viewers', () => {
  const viewers = 1_000;
  const { length, atMs, viewer, kind } = scheduleOf(viewers);
  const all = Array.from({ length }, (_, at) => ({
    atMs: atMs[at] as number,
    viewer: viewer[at] as number,
    kind: kind[at] as number,
  }));

  test('has one heartbeat and four reads, 250 ms apart, of each viewer', () => {
    expect(length).toBe(viewers * REQUESTS_PER_PERIOD);
    for (const [number, own] of Map.groupBy(all, (request) => request.viewer)) {
      expect(own.filter((request) => request.kind === HEARTBEAT)).toHaveLength(1);
      const reads = own.filter((request) => request.kind === FEED).map((request) => request.atMs);
      expect(reads).toHaveLength(4);
      for (const [n, moment] of reads.entries()) {
        expect(moment - (reads[0] as number)).toBeCloseTo(n * 250);
      }
      expect(number).toBeLessThan(viewers);
    }
  });

  test('is ordered within a second, with at most 10 requests in a millisecond', () => {
    expect(all.every(({ atMs: at }, n) => at >= (all[n - 1]?.atMs ?? 0) && at < PERIOD_MS)).toBe(
      true,
    );
    const byMs = [...Map.groupBy(all, ({ atMs: at }) => Math.floor(at)).values()];
    expect(Math.max(...byMs.map(({ length: requests }) => requests))).toBeLessThanOrEqual(10);
  });
});
