import { afterAll, beforeAll, expect, test } from 'bun:test';
import { intervalAt } from '../../../protocol/interval.ts';
import { Pace } from '../../platform/pace.ts';
import { replaceRuntime, SYSTEM_RUNTIME } from '../../platform/runtime.ts';
import { ActiveBlocks } from './presence-commands.ts';
import { PresenceRing } from './presence-ring.ts';
import { SharedPresenceWriter } from './shared-presence-writer.ts';
import { StreamCount } from './stream-count.ts';

const NOW_MS = 1_700_000_000_000;
const INTERVAL = intervalAt(NOW_MS);
/** How long the scan of one interval takes here. */
const SCAN_MS = 2;
const SCANNED_INTERVALS = 3;
/** The length of a pause, in times of the scan before it. */
const PAUSES = 9;
/** A read of Redis adds the whole window of this node. */
const WINDOW_INTERVALS = 5;

let monotonicMs = 0;
const pausesMs: number[] = [];
/** What happens while reads wait for a pause. */
let duringPause = () => {};

beforeAll(() =>
  replaceRuntime({
    ...SYSTEM_RUNTIME,
    monotonicMs: () => monotonicMs,
    sleep: async (ms) => {
      pausesMs.push(ms);
      duringPause();
      monotonicMs += ms;
    },
  }),
);
afterAll(() => replaceRuntime(SYSTEM_RUNTIME));

/** The count of a stream whose viewers register in other threads, on a Redis without other nodes. */
function setUp() {
  const state = { scans: 0 };
  class SlowRing extends PresenceRing {
    override blocksOf(interval: number) {
      state.scans += 1;
      monotonicMs += SCAN_MS;
      return super.blocksOf(interval);
    }
  }
  const ring = new SlowRing(1_000, { isShared: true });
  ring.register(0, INTERVAL);
  const writer = new SharedPresenceWriter(ring.memory());
  const count = new StreamCount({
    redis: { callAll: async () => [[], new Uint8Array()] },
    clock: { nowMs: () => NOW_MS },
    watermark: () => INTERVAL - 1,
    activeBlocks: new ActiveBlocks('test'),
    streamId: 'stream',
    ring: () => ring,
    isShared: true,
    pace: new Pace(PAUSES),
  });
  const register = (seat: number) => expect(writer.register(seat, INTERVAL)).toBe(true);
  return { state, register, count };
}

const readTimes = (count: StreamCount, times: number) =>
  Promise.all(Array.from({ length: times }, () => count.value()));

test('[V-6] a count includes each registration of another thread that was acknowledged before it', async () => {
  const { register, count } = setUp();
  for (let seat = 1; seat < 20; seat += 1) {
    register(seat);
    expect(await count.value()).toBe(seat + 1);
  }
  // The second read arrives while the first waits for a pause.
  let second: Promise<number> | null = null;
  duringPause = () => {
    duringPause = () => {};
    register(20);
    second = count.value();
  };
  await count.value();
  expect(await (second as Promise<number> | null)).toBe(21);
});

test('[V-6] [L-10] reads of a count share a scan of the ring, and the next scan begins after a pause', async () => {
  const { state, register, count } = setUp();
  register(1);
  pausesMs.length = 0;
  expect(new Set(await readTimes(count, 1_000))).toEqual(new Set([2]));
  expect(state.scans).toBe(WINDOW_INTERVALS + SCANNED_INTERVALS);
  expect(new Set(await readTimes(count, 1_000))).toEqual(new Set([2]));
  expect(state.scans).toBe(WINDOW_INTERVALS + 2 * SCANNED_INTERVALS);
  expect(pausesMs).toEqual([PAUSES * SCANNED_INTERVALS * SCAN_MS]);
});

test('[C-19] a count that waited for a pause while a seat was evicted reads Redis again', async () => {
  const { state, count } = setUp();
  await count.value();
  duringPause = () => {
    duringPause = () => {};
    count.forget();
  };
  const before = state.scans;
  expect(await count.value()).toBe(1);
  expect(state.scans).toBe(before + WINDOW_INTERVALS + SCANNED_INTERVALS);
});
