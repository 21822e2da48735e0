import { expect, test } from 'bun:test';
import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { DatabaseRolledBack } from '../feed/sealed-sql.ts';
import { TailRepair } from './tail-repair.ts';
import type { LostIntervals } from './tail-repair-sql.ts';

const START = 7_000_000_000;
const bodyOf = (interval: number) => ({ streamId: 's', interval, body: `body of ${interval}` });

/** The repair of a node that served `first` to `last`, for a database that ends with `START`. */
function testRepair(first: number, last: number) {
  const log = new MemoryFeedLog({ readSealed: async () => [] }, first - 1);
  for (let n = first; n <= last; n++) log.append(n, n % 2 === 0 ? [bodyOf(n)] : []);
  const state = { nowMs: 0, watermark: START, isRepairedByOther: false };
  const written: LostIntervals[] = [];
  const restoreSealed = async (lost: LostIntervals) => {
    if (state.isRepairedByOther || lost.after !== state.watermark) return false;
    written.push(lost);
    state.watermark = lost.interval;
    return true;
  };
  const repair = new TailRepair({ store: { restoreSealed }, log, nowMs: () => state.nowMs });
  const check = () => repair.check(state.watermark, log.watermark()).catch((error) => error);
  return { log, state, written, check };
}

test('[N-22] a database that has everything served is not written to', async () => {
  const { state, written, check } = testRepair(START - 5, START);
  for (const atMs of [0, 10_000]) {
    state.nowMs = atMs;
    expect(await check()).toBeUndefined();
  }
  expect(written).toEqual([]);
});

test('[N-22] [I-1] lost intervals are written back as they were served, after 500 ms', async () => {
  const { state, written, check } = testRepair(START - 5, START + 20);
  expect(await check()).toBeInstanceOf(DatabaseRolledBack);
  state.nowMs = 400;
  expect(await check()).toBeInstanceOf(DatabaseRolledBack);
  expect(written).toEqual([]);
  state.nowMs = 600;
  expect(await check()).toBeUndefined();
  expect(state.watermark).toBe(START + 20);
  const served = [2, 4, 6, 8, 10, 12, 14, 16, 18, 20].map((n) => bodyOf(START + n));
  expect(written.flatMap((lost) => lost.bodies)).toEqual(served);
  for (const lost of written) {
    for (const { interval } of lost.bodies) {
      expect(interval).toBeGreaterThan(lost.after);
      expect(interval).toBeLessThanOrEqual(lost.interval);
    }
  }
});

test('[N-22] a node with a part of the lost intervals waits for others, then writes its part', async () => {
  const { state, written, check } = testRepair(START + 16, START + 18);
  await check();
  state.nowMs = 1_900;
  expect(await check()).toBeInstanceOf(DatabaseRolledBack);
  state.nowMs = 2_100;
  expect(await check()).toBeUndefined();
  expect(written).toEqual([
    { after: START, interval: START + 15, bodies: [] },
    { after: START + 15, interval: START + 18, bodies: [16, 18].map((n) => bodyOf(START + n)) },
  ]);
});

test('[N-22] intervals that another node writes back are not written twice, and each loss waits anew', async () => {
  const { state, written, check } = testRepair(START - 5, START + 4);
  await check();
  state.nowMs = 600;
  state.isRepairedByOther = true;
  expect(await check()).toBeUndefined();
  state.watermark = START + 4;
  expect(await check()).toBeUndefined();
  state.isRepairedByOther = false;
  state.watermark = START + 2;
  expect(await check()).toBeInstanceOf(DatabaseRolledBack);
  expect(written).toEqual([]);
});
