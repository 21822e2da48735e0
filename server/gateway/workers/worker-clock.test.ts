import { expect, test } from 'bun:test';
import { createClock } from '../../platform/clock.ts';
import { ClockFollower, ClockPublisher, measureClockOffset } from './worker-clock.ts';

/** A service clock with a fake system clock, and a follower whose monotonic clock started later. */
function setUp() {
  const time = { systemMs: 1_700_000_000_000.4, monotonicMs: 5_000 };
  const clock = createClock({
    systemMs: () => time.systemMs,
    monotonicMs: () => time.monotonicMs,
    notBeforeMs: 0,
  });
  const publisher = new ClockPublisher(clock, () => time.monotonicMs);
  const follower = new ClockFollower(publisher.memory, 4_000, () => time.monotonicMs - 4_000);
  const advance = (ms: number) => {
    time.systemMs += ms;
    time.monotonicMs += ms;
  };
  return { time, clock, publisher, follower, advance };
}

test('[K-4] ClockFollower stays within a millisecond of service time, and never goes back', () => {
  const { time, clock, publisher, follower, advance } = setUp();
  let lastMs = 0;
  for (let reading = 0; reading < 3_000; reading += 1) {
    advance(7.3);
    // The system clock steps back, then forward.
    if (reading === 1_000) time.systemMs -= 3_000;
    if (reading === 2_000) time.systemMs += 8_000;
    if (reading % 3 === 0) publisher.publish();
    const ms = follower.nowMs();
    expect(ms).toBeGreaterThanOrEqual(lastMs);
    expect(clock.nowMs() - ms).toBeGreaterThanOrEqual(-1);
    expect(clock.nowMs() - ms).toBeLessThanOrEqual(1);
    lastMs = ms;
  }
});

test('[K-4] ClockFollower advances while the main thread publishes nothing', () => {
  const { follower, advance } = setUp();
  const before = follower.nowMs();
  advance(2_000);
  expect(follower.nowMs() - before).toBe(2_000);
});

test('[N-8] ClockFollower follows a step of the system clock by an hour forward, within 40 s', () => {
  const { time, clock, publisher, follower, advance } = setUp();
  time.systemMs += 3_600_000;
  for (let second = 0; second < 40; second += 1) {
    advance(1_000);
    publisher.publish();
  }
  expect(Math.abs(clock.nowMs() - follower.nowMs())).toBeLessThanOrEqual(1);
});

test('measureClockOffset measures the offset between two monotonic clocks', async () => {
  const offsetMs = await measureClockOffset(async () => performance.now() + 123_456);
  expect(Math.abs(offsetMs - 123_456)).toBeLessThan(1);
});
