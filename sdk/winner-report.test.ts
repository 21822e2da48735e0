import { describe, expect, test } from 'bun:test';
import { intervalStartMs } from '../protocol/interval.ts';
import { FakeMachine } from '../test/support/sdk/fake-environment.ts';
import { CancellableTimers } from './cancellable-timers.ts';
import { FourbeatError } from './errors.ts';
import { reportWinner } from './winner-report.ts';

/** A report by somebody who hears of the request so many ms after the end of its interval. */
function report(reply: (nth: number) => FourbeatError | null, { lateMs = 50, random = 0.5 } = {}) {
  const interval = 7_040_000_000;
  const startMs = intervalStartMs(interval + 1) + lateMs;
  const machine = new FakeMachine({ startMs, random: () => random });
  const tries: number[] = [];
  const api = {
    recordWinner: async () => {
      tries.push(machine.nowMs - startMs);
      const error = reply(tries.length);
      if (error) throw error;
    },
  };
  const timers = new CancellableTimers(machine.environment);
  const clock = { nowMs: () => machine.nowMs };
  const done = reportWinner({ env: machine.environment, clock, api, timers }, interval, true);
  return { machine, timers, tries, done };
}

describe('a winner', () => {
  test('reports once, some time in the next half second', async () => {
    for (const random of [0, 0.5, 0.999]) {
      const { machine, tries, done } = report(() => null, { random });
      await machine.advance(5_000);
      expect(await done).toBe(true);
      expect(tries).toEqual([expect.closeTo(random * 475)]);
    }
  });

  test('[W-4] who hears of it late reports the sooner, while reports are taken', async () => {
    const { machine, tries, done } = report(() => null, { lateMs: 800, random: 0.999 });
    await machine.advance(5_000);
    expect(await done).toBe(true);
    expect(tries[0]).toBeLessThanOrEqual(100);
  });

  test('who hears of it when it is over does not report', async () => {
    const { machine, tries, done } = report(() => null, { lateMs: 60_000 });
    await machine.advance(5_000);
    expect(await done).toBe(false);
    expect(tries).toEqual([]);
  });

  test('tries again while it may still count', async () => {
    const { machine, tries, done } = report((nth) =>
      nth < 3 ? new FourbeatError('unavailable', 'x') : null,
    );
    await machine.advance(5_000);
    expect(await done).toBe(true);
    expect(tries).toHaveLength(3);
    expect(tries[2]).toBeLessThan(1_000);
  });

  test('tries no longer than 2 s', async () => {
    const { machine, tries, done } = report(() => new FourbeatError('unavailable', 'x'));
    await machine.advance(60_000);
    expect(await done).toBe(false);
    expect(tries.at(-1)).toBeLessThan(2_000);
  });

  test.each([
    ['[W-8] who is none', new FourbeatError('denied', 'x', 401)],
    ['[W-9] who is too late', new FourbeatError('refused', 'x', 409)],
  ])('%s hears no, and that is that', async (_, error) => {
    const { machine, tries, done } = report(() => error);
    await machine.advance(5_000);
    expect(await done).toBe(false);
    expect(tries).toHaveLength(1);
  });

  test('who leaves does not report', async () => {
    const { machine, timers, tries, done } = report(() => null);
    const thrown = done.catch(({ kind }) => kind);
    timers.stop();
    expect(await thrown).toBe('left');
    await machine.advance(5_000);
    expect(tries).toEqual([]);
  });
});
