import { describe, expect, test } from 'bun:test';
import { createClockFixture, unavailable } from '../test/support/sdk/clock-fixture.ts';
import { FourbeatError } from './errors.ts';

describe('[K-2] the service clock', () => {
  test('is the system clock until the first sample', async () => {
    const { machine, clock } = createClockFixture();
    machine.systemErrorMs = 5_000;
    clock.start();
    expect(clock.nowMs()).toBe(machine.nowMs + 5_000);
    expect(clock.errorMs).toBe(Infinity);
    await machine.advance(20);
    await clock.synced;
    expect(clock.errorMs).toBeLessThan(Infinity);
    expect(clock.nowMs() - machine.nowMs).toBeCloseTo(0.5, 2);
  });

  test.each([-3_600_000, -300, 300, 3_600_000])(
    'is correct after the first sample when the system clock is wrong by %d ms',
    async (systemErrorMs) => {
      const { machine, clock, aheadMs } = createClockFixture();
      machine.systemErrorMs = systemErrorMs;
      clock.start();
      clock.nowMs();
      await machine.advance(20);
      expect(Math.abs(aheadMs())).toBeLessThan(1);
    },
  );

  test('uses the most precise of four samples', async () => {
    const { machine, clock, sampledAtMs, aheadMs } = createClockFixture([
      { requestMs: 300, responseMs: 0 },
      { requestMs: 4, responseMs: 2 },
      { requestMs: 0, responseMs: 200 },
      { requestMs: 150, responseMs: 10 },
    ]);
    clock.start();
    await machine.advance(300);
    expect(clock.errorMs).toBeCloseTo(150.5, 1);
    await machine.advance(2_000);
    expect(sampledAtMs).toHaveLength(4);
    expect(Math.abs(aheadMs())).toBeLessThan(1.6);
    expect(clock.errorMs).toBeLessThan(4);
  });

  test('reports its maximum error: half of the round trip, plus drift', async () => {
    const { machine, clock } = createClockFixture([{ requestMs: 20, responseMs: 20 }, unavailable]);
    clock.start();
    await machine.advance(40);
    expect(clock.errorMs).toBeCloseTo(20.5, 2);
    await machine.advance(100_000);
    expect(clock.errorMs).toBeCloseTo(25.5, 2);
  });

  test('is never wrong by more than it reports, for random delays and clock rates', async () => {
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    for (let show = 0; show < 50; show++) {
      const delays = Array.from({ length: 40 }, () =>
        random() < 0.2 ? unavailable : { requestMs: random() * 400, responseMs: random() * 400 },
      );
      const { machine, clock, aheadMs } = createClockFixture(delays, { random });
      machine.clockRate = 1 + (random() - 0.5) * 80e-6;
      clock.start();
      for (let steps = 0; steps < 60; steps++) {
        await machine.advance(random() * 10_000);
        const errorMs = clock.errorMs;
        expect(Math.abs(aheadMs())).toBeLessThanOrEqual(errorMs + 0.01);
      }
      clock.stop();
    }
  });
});

describe('[K-2] the service clock is sampled again', () => {
  test.each([
    [0, 45_000],
    [1, 75_000],
  ])('about once a minute: with random %d after %d ms', async (random, againMs) => {
    const { machine, clock, sampledAtMs } = createClockFixture(undefined, { random: () => random });
    clock.start();
    await machine.advance(300_000);
    const gaps = sampledAtMs.slice(1).map((ms, at) => ms - (sampledAtMs[at] as number));
    expect(gaps.slice(0, 3)).toEqual([270, 270, 270]);
    expect(new Set(gaps.slice(3))).toEqual(new Set([againMs + 20]));
  });

  test('and so stays correct for hours at another clock rate', async () => {
    const { machine, clock, aheadMs } = createClockFixture();
    machine.clockRate = 1 + 40e-6;
    clock.start();
    for (let hours = 0; hours < 4; hours++) {
      await machine.advance(3_600_000);
      expect(Math.abs(aheadMs())).toBeLessThan(20);
    }
  });

  test('and takes the new sample when it contradicts the old one', async () => {
    const quick = { requestMs: 1, responseMs: 1 };
    const slow = { requestMs: 200, responseMs: 200 };
    const { machine, clock, service, aheadMs } = createClockFixture([
      quick,
      quick,
      quick,
      quick,
      slow,
    ]);
    clock.start();
    await machine.advance(2_000);
    service.errorMs = 700;
    await machine.advance(80_000);
    expect(Math.abs(aheadMs())).toBeLessThan(2);
    expect(clock.errorMs).toBeGreaterThan(200);
  });

  test('with backoff while the service is unavailable', async () => {
    const { machine, clock, sampledAtMs } = createClockFixture([unavailable]);
    clock.start();
    await machine.advance(60_000);
    expect(sampledAtMs.slice(0, 4)).toEqual([0, 375, 1_125, 2_625]);
    // Finally every 2.5 to 5 s.
    expect(sampledAtMs.length).toBeLessThan(20);
    expect(clock.errorMs).toBe(Infinity);
  });

  test('with the backoff reset by each success', async () => {
    const available = { requestMs: 1, responseMs: 1 };
    const { machine, clock, sampledAtMs } = createClockFixture([
      unavailable,
      unavailable,
      available,
      unavailable,
      available,
    ]);
    clock.start();
    await machine.advance(3_000);
    expect(sampledAtMs.slice(0, 5)).toEqual([0, 375, 1_125, 1_377, 1_752]);
  });

  test('[G-27] not before the Retry-After of the service', async () => {
    const { machine, clock, sampledAtMs } = createClockFixture([
      new FourbeatError('busy', 'too many', 429, 5_000),
      { requestMs: 1, responseMs: 1 },
    ]);
    clock.start();
    await machine.advance(5_300);
    expect(sampledAtMs).toEqual([0]);
    await machine.advance(200);
    expect(sampledAtMs).toEqual([0, 5_375]);
    expect(clock.errorMs).toBeLessThan(Infinity);
  });

  test('never after `stop`', async () => {
    const { machine, clock, sampledAtMs } = createClockFixture();
    clock.start();
    await machine.advance(5);
    clock.stop();
    await machine.advance(300_000);
    clock.resync();
    await machine.advance(300_000);
    expect(sampledAtMs).toHaveLength(1);
    expect(machine.pendingTimers).toBe(0);
  });
});
