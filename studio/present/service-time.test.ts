import { expect, test } from 'bun:test';
import { ServiceTime } from './service-time.ts';

test('goes by the state that took the least way, and on by itself', () => {
  let localMs = 1_000;
  const time = new ServiceTime(() => localMs);
  // Made at 50,000 and 300 ms on the way; then made at 50,500 and 20 ms; then 50,990 and 30 ms.
  time.hear(50_000);
  expect(time.nowMs()).toBe(50_000);
  localMs += 220;
  time.hear(50_500);
  expect(time.nowMs()).toBe(50_500);
  localMs += 500;
  time.hear(50_990);
  expect(time.nowMs()).toBe(51_000);
  localMs += 100;
  expect(time.nowMs()).toBe(51_100);
});

test('forgets what is long ago, so that it follows a clock that is set back', () => {
  let localMs = 0;
  const time = new ServiceTime(() => localMs);
  time.hear(90_000);
  for (let n = 0; n < 20; n++) {
    localMs += 500;
    time.hear(50_000 + localMs);
  }
  expect(time.nowMs()).toBe(60_000);
});
