import { expect, test } from 'bun:test';
import { ServiceClock } from './service-clock.ts';

test('ServiceClock uses the sample with the lowest delay and advances by itself', () => {
  let localMs = 1_000;
  const clock = new ServiceClock(() => localMs);
  // Three states: made at 50,000 with 300 ms of delay, at 50,500 with 20 ms, at 50,990 with 30 ms.
  clock.addSample(50_000);
  expect(clock.nowMs()).toBe(50_000);
  localMs += 220;
  clock.addSample(50_500);
  expect(clock.nowMs()).toBe(50_500);
  localMs += 500;
  clock.addSample(50_990);
  expect(clock.nowMs()).toBe(51_000);
  localMs += 100;
  expect(clock.nowMs()).toBe(51_100);
});

test('ServiceClock drops old samples, so that it follows a clock that was set back', () => {
  let localMs = 0;
  const clock = new ServiceClock(() => localMs);
  clock.addSample(90_000);
  for (let n = 0; n < 20; n++) {
    localMs += 500;
    clock.addSample(50_000 + localMs);
  }
  expect(clock.nowMs()).toBe(60_000);
});
