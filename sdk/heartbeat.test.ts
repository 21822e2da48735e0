import { describe, expect, test } from 'bun:test';
import { FakeMachine, type FakeMachineOptions } from '../test/support/sdk/fake-environment.ts';
import { FourbeatError } from './errors.ts';
import { Heartbeat } from './heartbeat.ts';

interface Setting extends FakeMachineOptions {
  readonly beat?: () => Promise<void>;
  /** What the first beat waits for. */
  readonly token?: Promise<void>;
  readonly hiddenMs?: number;
}

/** A heartbeat that began, and when each beat was, in true ms since. */
function begin({
  beat = async () => {},
  token = Promise.resolve(),
  hiddenMs = Infinity,
  ...options
}: Setting = {}) {
  const machine = new FakeMachine({ random: () => 0.25, ...options });
  const fromMs = machine.nowMs;
  const beats: number[] = [];
  const heartbeat = new Heartbeat(
    machine.environment,
    async (onSend) => {
      await token;
      onSend();
      beats.push(Math.round(machine.nowMs - fromMs));
      return beat();
    },
    hiddenMs,
  );
  heartbeat.start();
  return { machine, beats, heartbeat };
}

/** One whose beats wait for their tokens until the test lets them go; answers take 1.5 s. */
function beginWithTokens() {
  const machine = new FakeMachine({ random: () => 0.25 });
  const fromMs = machine.nowMs;
  const beats: number[] = [];
  const waits: (() => void)[] = [];
  const heartbeat = new Heartbeat(
    machine.environment,
    async (onSend) => {
      await new Promise<void>((resolve) => waits.push(resolve));
      onSend();
      beats.push(Math.round(machine.nowMs - fromMs));
      await new Promise<void>((resolve) => machine.environment.after(1_500, resolve));
    },
    Infinity,
  );
  heartbeat.start();
  return { machine, heartbeat, beats, waits };
}

function gaps(beats: readonly number[]): number[] {
  return beats.slice(1).map((ms, at) => ms - (beats[at] as number));
}

describe('[V-4] a viewer is told once a second', () => {
  test('from a random moment of the first second on', async () => {
    const { machine, beats } = begin();
    await machine.advance(3_300);
    expect(beats).toEqual([250, 1_250, 2_250, 3_250]);
  });

  test('without drift in ten minutes, although answers take their time', async () => {
    const { machine, beats } = begin({ beat: () => wait(700) });
    const wait = (ms: number) =>
      new Promise<void>((resolve) => machine.environment.after(ms, resolve));
    await machine.advance(600_000);
    expect(beats).toHaveLength(600);
    expect(beats.at(-1)).toBe(599_250);
  });

  test('whether the service can be reached or not', async () => {
    const { machine, beats } = begin({
      beat: () => Promise.reject(new FourbeatError('away', 'gone')),
    });
    await machine.advance(5_000);
    expect(beats).toHaveLength(5);
  });

  test('without a gap, although each answer takes almost as long as it may', async () => {
    const { machine, beats } = begin({ beat: () => wait(4_900) });
    const wait = (ms: number) =>
      new Promise<void>((resolve) => machine.environment.after(ms, resolve));
    await machine.advance(60_000);
    expect(beats).toHaveLength(60);
  });

  test('a second after one that had to wait for its token, and those between are skipped', async () => {
    let come = () => {};
    const token = new Promise<void>((resolve) => {
      come = resolve;
    });
    const { machine, beats } = begin({ token });
    await machine.advance(2_900);
    come();
    await machine.advance(2_050);
    expect(beats).toEqual([2_900, 3_900, 4_900]);
  });

  test('at the next second, after one that got no token', async () => {
    let tries = 0;
    const machine = new FakeMachine();
    const heartbeat = new Heartbeat(
      machine.environment,
      () => {
        tries++;
        return Promise.reject(new FourbeatError('away', 'no token'));
      },
      Infinity,
    );
    heartbeat.start();
    await machine.advance(3_000);
    expect(tries).toBe(3);
  });

  test('once, when its token comes after the answer to the one before', async () => {
    const { machine, beats, waits } = beginWithTokens();
    await machine.advance(250);
    waits[0]?.();
    await machine.advance(1_000);
    expect([beats, waits.length]).toEqual([[250], 2]);
    // The first is answered while the second waits, and nothing else is begun.
    await machine.advance(5_000);
    expect(waits).toHaveLength(2);
    waits[1]?.();
    await machine.settle();
    expect(beats).toEqual([250, 6_250]);
  });

  test('never after it stopped, although a token came', async () => {
    const { machine, heartbeat, waits } = beginWithTokens();
    await machine.advance(500);
    heartbeat.stop();
    waits[0]?.();
    await machine.advance(10_000);
    expect(waits).toHaveLength(1);
    expect(machine.waiting).toBe(0);
  });

  test('until it stops', async () => {
    const { machine, beats, heartbeat } = begin({ hasPage: true });
    await machine.advance(1_500);
    heartbeat.stop();
    await machine.setHidden(true);
    await machine.setHidden(false);
    await machine.advance(5_000);
    expect(beats).toHaveLength(2);
    expect(machine.waiting).toBe(0);
  });
});

describe('[V-4] what a sleep passed over is skipped', () => {
  test.each([
    ['whose clock runs on meanwhile', true],
    ['whose clock stands still meanwhile', false],
  ])('on a machine %s, and no two beats are within a second', async (_, doesMonotonicRun) => {
    const { machine, beats } = begin();
    for (const sleptMs of [300, 950, 1_049, 90_000, 3_600_000]) {
      await machine.advance(1_730);
      await machine.sleep(sleptMs, doesMonotonicRun);
    }
    await machine.advance(5_000);
    expect(Math.min(...gaps(beats))).toBeGreaterThanOrEqual(1_000);
    expect(beats.length).toBeGreaterThan(11);
  });

  test('and the first beat after it is at once, where one is due', async () => {
    const { machine, beats } = begin();
    await machine.advance(500);
    await machine.sleep(60_000, true);
    expect(beats).toEqual([250, 60_500]);
    await machine.advance(1_000);
    expect(beats).toEqual([250, 60_500, 61_500]);
  });
});

describe('[G-27] a service that asks to wait', () => {
  test('is not told before, and then at the second as ever', async () => {
    let isBusy = true;
    const { machine, beats } = begin({
      beat: async () => {
        if (isBusy) throw new FourbeatError('busy', 'too many', 429, 2_000);
      },
    });
    await machine.advance(1_000);
    isBusy = false;
    await machine.advance(3_500);
    expect(beats).toEqual([250, 2_250, 3_250, 4_250]);
  });
});

describe('a page that nobody looks at', () => {
  test('is told for ever by default', async () => {
    const { machine, beats } = begin({ hasPage: true });
    await machine.setHidden(true);
    await machine.advance(3_600_000);
    expect(beats).toHaveLength(3_600);
  });

  test('is told for as long as the app allows', async () => {
    const { machine, beats } = begin({ hasPage: true, hiddenMs: 5_000 });
    await machine.advance(1_000);
    await machine.setHidden(true);
    await machine.advance(60_000);
    expect(beats).toEqual([250, 1_250, 2_250, 3_250, 4_250, 5_250]);
    expect(machine.waiting).toBe(0);
  });

  test('is told at once when somebody looks again', async () => {
    const { machine, beats } = begin({ hasPage: true, hiddenMs: 5_000 });
    await machine.setHidden(true);
    await machine.advance(60_100);
    await machine.setHidden(false);
    await machine.advance(2_000);
    expect(beats.slice(-3)).toEqual([60_100, 61_100, 62_100]);
  });

  test('is never told twice within a second, however often somebody looks', async () => {
    const { machine, beats } = begin({ hasPage: true, hiddenMs: 0 });
    for (let looks = 0; looks < 40; looks++) {
      await machine.setHidden(looks % 2 === 0);
      await machine.advance(130);
    }
    expect(Math.min(...gaps(beats))).toBeGreaterThanOrEqual(1_000);
    expect(beats.length).toBeGreaterThan(2);
  });

  test('nor when a beat came late before', async () => {
    const { machine, beats } = begin({ hasPage: true });
    await machine.advance(500);
    await machine.sleep(1_500, true);
    await machine.advance(300);
    await machine.setHidden(true);
    await machine.setHidden(false);
    await machine.advance(1_000);
    expect(beats).toEqual([250, 2_000, 3_000]);
  });

  test('is not told when it was opened out of sight, and the app allows no time', async () => {
    const { machine, beats, heartbeat } = begin({ hasPage: true, hiddenMs: 0 });
    heartbeat.stop();
    await machine.setHidden(true);
    heartbeat.start();
    await machine.advance(10_000);
    expect(beats).toEqual([]);
    await machine.setHidden(false);
    await machine.advance(0);
    expect(beats).toHaveLength(1);
  });
});
