import { describe, expect, test } from 'bun:test';
import { createClockFixture, unavailable } from '../test/support/sdk/clock-fixture.ts';

describe('[K-2] the service clock never goes back', () => {
  test('when a better sample finds it ahead: it runs at half rate until it is correct', async () => {
    const { machine, clock, aheadMs } = createClockFixture([
      { requestMs: 0, responseMs: 400 },
      { requestMs: 1, responseMs: 1 },
    ]);
    clock.start();
    await machine.advance(400);
    expect(aheadMs()).toBeCloseTo(-199.5, 0);
    const fast = createClockFixture([
      { requestMs: 400, responseMs: 0 },
      { requestMs: 1, responseMs: 1 },
    ]);
    fast.clock.start();
    await fast.machine.advance(651);
    expect(fast.aheadMs()).toBeCloseTo(200.5, 0);
    let lastMs = fast.clock.nowMs();
    for (let steps = 0; steps < 100; steps++) {
      await fast.machine.advance(10);
      const nowMs = fast.clock.nowMs();
      expect(nowMs - lastMs).toBeGreaterThan(4.9);
      expect(Math.abs(fast.aheadMs())).toBeLessThan(fast.clock.errorMs + 0.01);
      lastMs = nowMs;
    }
    expect(Math.abs(fast.aheadMs())).toBeLessThan(1);
  });

  test('when the system clock is set', async () => {
    const { machine, clock, aheadMs } = createClockFixture();
    clock.start();
    await machine.advance(2_000);
    for (const systemErrorMs of [-86_400_000, 3_600_000, 0]) {
      machine.systemErrorMs = systemErrorMs;
      expect(Math.abs(aheadMs())).toBeLessThan(1);
      await machine.advance(10_000);
      expect(Math.abs(aheadMs())).toBeLessThan(1);
    }
  });
});

describe('[K-2] after a sleep the service clock is corrected at once', () => {
  test('when the monotonic clock stood still, and reports the error until then', async () => {
    const { machine, clock, sampledAtMs, aheadMs } = createClockFixture();
    clock.start();
    await machine.advance(10_000);
    expect(sampledAtMs).toHaveLength(4);
    await machine.sleep(3_600_000);
    expect(aheadMs()).toBeCloseTo(-3_600_000, -1);
    expect(clock.errorMs).toBeGreaterThan(3_599_000);
    await machine.advance(1_100);
    expect(Math.abs(aheadMs())).toBeLessThan(1);
    await machine.advance(2_000);
    expect(clock.errorMs).toBeLessThan(12);
    expect(sampledAtMs).toHaveLength(8);
  });

  test('when the monotonic clock ran on', async () => {
    const { machine, clock, sampledAtMs } = createClockFixture();
    clock.start();
    await machine.advance(10_000);
    await machine.sleep(20_000, true);
    await machine.advance(2_000);
    expect(sampledAtMs).toHaveLength(8);
  });

  test('and a sample that was in flight during the sleep is discarded', async () => {
    const { machine, clock, aheadMs } = createClockFixture([{ requestMs: 10, responseMs: 100 }]);
    clock.start();
    await machine.advance(50);
    await machine.sleep(3_600_000);
    await machine.advance(60);
    expect(clock.errorMs).toBe(Infinity);
    await machine.advance(1_000);
    expect(Math.abs(aheadMs())).toBeLessThan(100);
  });

  test('and short pauses are not sleeps until they add up', async () => {
    const { machine, clock, sampledAtMs, aheadMs } = createClockFixture();
    clock.start();
    await machine.advance(10_000);
    await machine.sleep(450);
    await machine.advance(10_000);
    expect(sampledAtMs).toHaveLength(4);
    for (let pauses = 0; pauses < 20; pauses++) {
      await machine.sleep(450);
      await machine.advance(2_000);
      expect(Math.abs(aheadMs())).toBeLessThan(501);
    }
    expect(clock.errorMs).toBeLessThan(501);
  });
});

describe('[F-7] when the service rejects an interval, the service clock', () => {
  test('is sampled at once', async () => {
    const { machine, clock, sampledAtMs, service, aheadMs } = createClockFixture();
    clock.start();
    await machine.advance(10_000);
    service.errorMs = 3_000;
    clock.resync();
    await machine.advance(20);
    expect(sampledAtMs).toHaveLength(5);
    expect(Math.abs(aheadMs())).toBeLessThan(1);
  });

  test('is sampled at most every few seconds', async () => {
    const { machine, clock, sampledAtMs } = createClockFixture();
    clock.start();
    await machine.advance(10_000);
    for (let calls = 0; calls < 200; calls++) {
      clock.resync();
      await machine.advance(50);
    }
    expect(sampledAtMs.length).toBeLessThanOrEqual(4 + 2 * 4);
  });

  test('is not sampled before its backoff ends while the service is unavailable', async () => {
    const { machine, clock, sampledAtMs } = createClockFixture([unavailable]);
    clock.start();
    await machine.advance(3_000);
    const before = sampledAtMs.length;
    clock.resync();
    await machine.advance(10);
    expect(sampledAtMs).toHaveLength(before);
  });
});
