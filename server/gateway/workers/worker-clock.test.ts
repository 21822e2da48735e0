import { expect, test } from 'bun:test';
import { createClock } from '../../platform/clock.ts';
import { ClockFollower, ClockPublisher, measureClockOffset } from './worker-clock.ts';

/** A clock whose system is stepped and slewed, and a thread whose own clock began later. */
function setUp() {
  const world = { systemMs: 1_700_000_000_000.4, monotonicMs: 5_000 };
  const clock = createClock({
    systemMs: () => world.systemMs,
    monotonicMs: () => world.monotonicMs,
    notBeforeMs: 0,
  });
  const told = new ClockPublisher(clock, () => world.monotonicMs);
  const heard = new ClockFollower(told.memory, 4_000, () => world.monotonicMs - 4_000);
  const pass = (ms: number) => {
    world.systemMs += ms;
    world.monotonicMs += ms;
  };
  return { world, clock, told, heard, pass };
}

test('[K-4] a thread has the service time of the main thread, never before it and at most a millisecond behind', () => {
  const { world, clock, told, heard, pass } = setUp();
  let last = 0;
  for (let reading = 0; reading < 3_000; reading += 1) {
    pass(7.3);
    // The system clock is set back, and forward.
    if (reading === 1_000) world.systemMs -= 3_000;
    if (reading === 2_000) world.systemMs += 8_000;
    if (reading % 3 === 0) told.publish();
    const ms = heard.nowMs();
    expect(ms).toBeGreaterThanOrEqual(last);
    expect(clock.nowMs() - ms).toBeGreaterThanOrEqual(-1);
    expect(clock.nowMs() - ms).toBeLessThanOrEqual(1);
    last = ms;
  }
});

test('[K-4] time goes on in a thread while the main one stands still', () => {
  const { heard, pass } = setUp();
  const before = heard.nowMs();
  pass(2_000);
  expect(heard.nowMs() - before).toBe(2_000);
});

test('[N-8] a step forward of service time is in a thread with the next telling', () => {
  const { world, clock, told, heard, pass } = setUp();
  world.systemMs += 3_600_000;
  for (let second = 0; second < 40; second += 1) {
    pass(1_000);
    told.publish();
  }
  expect(Math.abs(clock.nowMs() - heard.nowMs())).toBeLessThanOrEqual(1);
});

test('how far clocks of threads are apart is found by asking', async () => {
  const ahead = await measureClockOffset(async () => performance.now() + 123_456);
  expect(Math.abs(ahead - 123_456)).toBeLessThan(1);
});
