import { describe, expect, test } from 'bun:test';
import { ServiceClock } from './clock.ts';
import { Trouble } from './errors.ts';
import { FakeMachine, type FakeMachineOptions } from './fake-machine.ts';

/** How long a question and its answer are on their way, ms. */
interface Way {
  readonly thereMs: number;
  readonly backMs: number;
}

/** Samples beyond those take as long as the last. */
function begin(
  ways: readonly (Way | Trouble)[] = [{ thereMs: 10, backMs: 10 }],
  options?: FakeMachineOptions,
) {
  const machine = new FakeMachine(options);
  const fromMs = machine.nowMs;
  const { after } = machine.environment;
  const wait = (ms: number) => new Promise<void>((resolve) => after(ms, resolve));
  /** When each sample was asked for, in true ms since the start. */
  const asked: number[] = [];
  /** How far the service's clock is ahead of the true time. */
  const service = { errorMs: 0 };
  const clock = new ServiceClock(machine.environment, async () => {
    const way = ways[Math.min(asked.length, ways.length - 1)] as Way | Trouble;
    asked.push(Math.round(machine.nowMs - fromMs));
    if (way instanceof Trouble) throw way;
    await wait(way.thereMs);
    const now = Math.floor(machine.nowMs + service.errorMs);
    await wait(way.backMs);
    return now;
  });
  const offMs = () => clock.nowMs() - machine.nowMs - service.errorMs;
  return { machine, clock, asked, service, offMs };
}

const away = new Trouble('away', 'the service is away');

describe('[K-2] a viewer’s clock is set by the service', () => {
  test('and is the system’s until then', async () => {
    const { machine, clock } = begin();
    machine.systemErrorMs = 5_000;
    clock.start();
    expect(clock.isSynced).toBe(false);
    expect(clock.nowMs()).toBe(machine.nowMs + 5_000);
    expect(clock.errorMs).toBe(Infinity);
    await machine.advance(20);
    await clock.synced;
    expect(clock.isSynced).toBe(true);
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
    const { machine, clock } = begin([{ thereMs: 20, backMs: 20 }, away]);
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
        random() < 0.2 ? away : { thereMs: random() * 400, backMs: random() * 400 },
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
    const { machine, clock, asked } = begin([away]);
    clock.start();
    await machine.advance(60_000);
    expect(asked.slice(0, 4)).toEqual([0, 375, 1_125, 2_625]);
    expect(asked.length).toBeLessThan(12);
    expect(clock.isSynced).toBe(false);
  });

  test('with as much patience each time it is away', async () => {
    const here = { thereMs: 1, backMs: 1 };
    const { machine, clock, asked } = begin([away, away, here, away, here]);
    clock.start();
    await machine.advance(3_000);
    expect(asked.slice(0, 5)).toEqual([0, 375, 1_125, 1_377, 1_752]);
  });

  test('[G-27] not before the service wishes', async () => {
    const { machine, clock, asked } = begin([
      new Trouble('busy', 'too many', 429, 5_000),
      { thereMs: 1, backMs: 1 },
    ]);
    clock.start();
    await machine.advance(5_300);
    expect(asked).toEqual([0]);
    await machine.advance(200);
    expect(asked).toEqual([0, 5_375]);
    expect(clock.isSynced).toBe(true);
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

describe('[K-2] it never goes back', () => {
  test('when a better sample finds it ahead: it runs at half its pace until it is right', async () => {
    const { machine, clock, offMs } = begin([
      { thereMs: 0, backMs: 400 },
      { thereMs: 1, backMs: 1 },
    ]);
    clock.start();
    await machine.advance(400);
    expect(offMs()).toBeCloseTo(-199.5, 0);
    const early = begin([
      { thereMs: 400, backMs: 0 },
      { thereMs: 1, backMs: 1 },
    ]);
    early.clock.start();
    await early.machine.advance(651);
    expect(early.offMs()).toBeCloseTo(200.5, 0);
    let lastMs = early.clock.nowMs();
    for (let steps = 0; steps < 100; steps++) {
      await early.machine.advance(10);
      const nowMs = early.clock.nowMs();
      expect(nowMs - lastMs).toBeGreaterThan(4.9);
      expect(Math.abs(early.offMs())).toBeLessThan(early.clock.errorMs + 0.01);
      lastMs = nowMs;
    }
    expect(Math.abs(early.offMs())).toBeLessThan(1);
  });

  test('when the system’s clock is set', async () => {
    const { machine, clock, offMs } = begin();
    clock.start();
    await machine.advance(2_000);
    for (const systemErrorMs of [-86_400_000, 3_600_000, 0]) {
      machine.systemErrorMs = systemErrorMs;
      expect(Math.abs(offMs())).toBeLessThan(1);
      await machine.advance(10_000);
      expect(Math.abs(offMs())).toBeLessThan(1);
    }
  });
});

describe('[K-2] after a sleep it is set at once', () => {
  test('on a machine whose monotonic clock stood still, and tells meanwhile that it may be off', async () => {
    const { machine, clock, asked, offMs } = begin();
    clock.start();
    await machine.advance(10_000);
    expect(asked).toHaveLength(4);
    await machine.sleep(3_600_000);
    expect(offMs()).toBeCloseTo(-3_600_000, -1);
    expect(clock.errorMs).toBeGreaterThan(3_599_000);
    await machine.advance(1_100);
    expect(Math.abs(offMs())).toBeLessThan(1);
    await machine.advance(2_000);
    expect(clock.errorMs).toBeLessThan(12);
    expect(asked).toHaveLength(8);
  });

  test('on a machine whose monotonic clock ran on', async () => {
    const { machine, clock, asked } = begin();
    clock.start();
    await machine.advance(10_000);
    await machine.sleep(20_000, true);
    await machine.advance(2_000);
    expect(asked).toHaveLength(8);
  });

  test('also when it slept while a sample was on its way, which then means nothing', async () => {
    const { machine, clock, offMs } = begin([{ thereMs: 10, backMs: 100 }]);
    clock.start();
    await machine.advance(50);
    await machine.sleep(3_600_000);
    await machine.advance(60);
    expect(clock.isSynced).toBe(false);
    await machine.advance(1_000);
    expect(Math.abs(offMs())).toBeLessThan(100);
  });

  test('and a moment of nothing is no sleep, but many of them are', async () => {
    const { machine, clock, asked, offMs } = begin();
    clock.start();
    await machine.advance(10_000);
    await machine.sleep(450);
    await machine.advance(10_000);
    expect(asked).toHaveLength(4);
    for (let naps = 0; naps < 20; naps++) {
      await machine.sleep(450);
      await machine.advance(2_000);
      expect(Math.abs(offMs())).toBeLessThan(501);
    }
    expect(clock.errorMs).toBeLessThan(501);
  });
});

describe('[F-7] when the service finds it off', () => {
  test('it is set at once', async () => {
    const { machine, clock, asked, service, offMs } = begin();
    clock.start();
    await machine.advance(10_000);
    service.errorMs = 3_000;
    clock.look();
    await machine.advance(20);
    expect(asked).toHaveLength(5);
    expect(Math.abs(offMs())).toBeLessThan(1);
  });

  test('again and again, it is set each few seconds', async () => {
    const { machine, clock, asked } = begin();
    clock.start();
    await machine.advance(10_000);
    for (let looks = 0; looks < 200; looks++) {
      clock.look();
      await machine.advance(50);
    }
    expect(asked.length).toBeLessThanOrEqual(4 + 2 * 4);
  });

  test('while it is being set, or cannot be, nothing more is asked', async () => {
    const { machine, clock, asked } = begin([away]);
    clock.start();
    await machine.advance(3_000);
    const before = asked.length;
    clock.look();
    await machine.advance(10);
    expect(asked).toHaveLength(before);
  });
});
