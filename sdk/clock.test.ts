import { describe, expect, test } from 'bun:test';
import { begin, unavailable } from '../test/support/sdk/clock-fixture.ts';
import { FourbeatError } from './errors.ts';

describe('[K-2] a viewer’s clock is set by the service', () => {
  test('and is the system’s until then', async () => {
    const { machine, clock } = begin();
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
    'by the first sample at once, when the system’s is off by %d ms',
    async (systemErrorMs) => {
      const { machine, clock, offMs } = begin();
      machine.systemErrorMs = systemErrorMs;
      clock.start();
      clock.nowMs();
      await machine.advance(20);
      expect(Math.abs(offMs())).toBeLessThan(1);
    },
  );

  test('by four samples, of which the quickest counts', async () => {
    const { machine, clock, asked, offMs } = begin([
      { thereMs: 300, backMs: 0 },
      { thereMs: 4, backMs: 2 },
      { thereMs: 0, backMs: 200 },
      { thereMs: 150, backMs: 10 },
    ]);
    clock.start();
    await machine.advance(300);
    expect(clock.errorMs).toBeCloseTo(150.5, 1);
    await machine.advance(2_000);
    expect(asked).toHaveLength(4);
    expect(Math.abs(offMs())).toBeLessThan(1.6);
    expect(clock.errorMs).toBeLessThan(4);
  });

  test('and tells how far off it is at most: half of the way there and back, and drift', async () => {
    const { machine, clock } = begin([{ thereMs: 20, backMs: 20 }, unavailable]);
    clock.start();
    await machine.advance(40);
    expect(clock.errorMs).toBeCloseTo(20.5, 2);
    await machine.advance(100_000);
    expect(clock.errorMs).toBeCloseTo(25.5, 2);
  });

  test('whatever the ways and the pace are, it is never further off than it tells', async () => {
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    for (let show = 0; show < 50; show++) {
      const ways = Array.from({ length: 40 }, () =>
        random() < 0.2 ? unavailable : { thereMs: random() * 400, backMs: random() * 400 },
      );
      const { machine, clock, offMs } = begin(ways, { random });
      machine.pace = 1 + (random() - 0.5) * 80e-6;
      clock.start();
      for (let looks = 0; looks < 60; looks++) {
        await machine.advance(random() * 10_000);
        const told = clock.errorMs;
        expect(Math.abs(offMs())).toBeLessThanOrEqual(told + 0.01);
      }
      clock.stop();
    }
  });
});

describe('[K-2] it is set again', () => {
  test.each([
    [0, 45_000],
    [1, 75_000],
  ])('each minute or so: with chance %d after %d ms', async (chance, againMs) => {
    const { machine, clock, asked } = begin(undefined, { random: () => chance });
    clock.start();
    await machine.advance(300_000);
    const gaps = asked.slice(1).map((ms, at) => ms - (asked[at] as number));
    expect(gaps.slice(0, 3)).toEqual([270, 270, 270]);
    expect(new Set(gaps.slice(3))).toEqual(new Set([againMs + 20]));
  });

  test('so that a clock of another pace stays right for hours', async () => {
    const { machine, clock, offMs } = begin();
    machine.pace = 1 + 40e-6;
    clock.start();
    for (let hours = 0; hours < 4; hours++) {
      await machine.advance(3_600_000);
      expect(Math.abs(offMs())).toBeLessThan(20);
    }
  });

  test('to another time of the service, when both cannot be right', async () => {
    const quick = { thereMs: 1, backMs: 1 };
    const slow = { thereMs: 200, backMs: 200 };
    const { machine, clock, service, offMs } = begin([quick, quick, quick, quick, slow]);
    clock.start();
    await machine.advance(2_000);
    service.errorMs = 700;
    await machine.advance(80_000);
    expect(Math.abs(offMs())).toBeLessThan(2);
    expect(clock.errorMs).toBeGreaterThan(200);
  });

  test('with patience, while the service is away', async () => {
    const { machine, clock, asked } = begin([unavailable]);
    clock.start();
    await machine.advance(60_000);
    expect(asked.slice(0, 4)).toEqual([0, 375, 1_125, 2_625]);
    // In the end each 2.5 to 5 s.
    expect(asked.length).toBeLessThan(20);
    expect(clock.errorMs).toBe(Infinity);
  });

  test('with as much patience each time it is away', async () => {
    const here = { thereMs: 1, backMs: 1 };
    const { machine, clock, asked } = begin([unavailable, unavailable, here, unavailable, here]);
    clock.start();
    await machine.advance(3_000);
    expect(asked.slice(0, 5)).toEqual([0, 375, 1_125, 1_377, 1_752]);
  });

  test('[G-27] not before the service wishes', async () => {
    const { machine, clock, asked } = begin([
      new FourbeatError('busy', 'too many', 429, 5_000),
      { thereMs: 1, backMs: 1 },
    ]);
    clock.start();
    await machine.advance(5_300);
    expect(asked).toEqual([0]);
    await machine.advance(200);
    expect(asked).toEqual([0, 5_375]);
    expect(clock.errorMs).toBeLessThan(Infinity);
  });

  test('never after it stopped', async () => {
    const { machine, clock, asked } = begin();
    clock.start();
    await machine.advance(5);
    clock.stop();
    await machine.advance(300_000);
    clock.look();
    await machine.advance(300_000);
    expect(asked).toHaveLength(1);
    expect(machine.waiting).toBe(0);
  });
});
