import { describe, expect, test } from 'bun:test';
import { intervalStartMs } from '../protocol/interval.ts';
import { FakeMachine } from '../test/support/sdk/fake-environment.ts';
import { CancellableTimers } from './cancellable-timers.ts';
import { FourbeatError } from './errors.ts';
import { reportWinner } from './winner-report.ts';

/** A report of a viewer who gets the request this long after its interval. */
function report(
  reply: (nth: number) => FourbeatError | null,
  { lateMs = 50, random = 0.5, timeoutMs = 0, isHidden = false } = {},
) {
  const interval = 7_040_000_000;
  const startMs = intervalStartMs(interval + 1) + lateMs;
  const machine = new FakeMachine({ startMs, random: () => random, hasPage: true });
  if (isHidden) void machine.setHidden(true);
  const attempts: number[] = [];
  const api = {
    recordWinner: async () => {
      attempts.push(machine.nowMs - startMs);
      const error = reply(attempts.length);
      if (error && timeoutMs > 0) {
        await new Promise<void>((resolve) => machine.environment.after(timeoutMs, resolve));
      }
      if (error) throw error;
    },
  };
  const timers = new CancellableTimers(machine.environment);
  const clock = { nowMs: () => machine.nowMs };
  const done = reportWinner({ env: machine.environment, clock, api, timers }, interval, true);
  return { machine, timers, attempts, done };
}

describe('a winner', () => {
  test('is reported once, at a random time within half a second', async () => {
    for (const random of [0, 0.5, 0.999]) {
      const { machine, attempts, done } = report(() => null, { random });
      await machine.advance(5_000);
      expect(await done).toBe(true);
      expect(attempts).toEqual([expect.closeTo((random * (1_000 - 50)) / 2)]);
    }
  });

  test('[W-4] who gets the request late is reported sooner, while reports are accepted', async () => {
    const { machine, attempts, done } = report(() => null, { lateMs: 800, random: 0.999 });
    await machine.advance(5_000);
    expect(await done).toBe(true);
    expect(attempts[0]).toBeLessThanOrEqual(100);
  });

  test('[W-5] who gets the request late is reported until the service has prolonged the round', async () => {
    const late = { lateMs: 3_000 };
    const prolonged = report(
      (nth) => (nth < 3 ? new FourbeatError('refused', 'x', 409) : null),
      late,
    );
    await prolonged.machine.advance(5_000);
    expect(await prolonged.done).toBe(true);
    const closed = report(() => new FourbeatError('refused', 'x', 409), late);
    await closed.machine.advance(20_000);
    expect(await closed.done).toBe(false);
    expect(closed.attempts.at(-1)).toBeLessThan(8_000);
    expect(closed.attempts.length).toBeLessThan(14);
  });

  test('who gets the request after the round is not reported', async () => {
    const { machine, attempts, done } = report(() => null, { lateMs: 60_000 });
    await machine.advance(5_000);
    expect(await done).toBe(false);
    expect(attempts).toEqual([]);
  });

  test('is reported again after a failure while it may count', async () => {
    const { machine, attempts, done } = report((nth) =>
      nth < 3 ? new FourbeatError('unavailable', 'x') : null,
    );
    await machine.advance(5_000);
    expect(await done).toBe(true);
    expect(attempts).toHaveLength(3);
    expect(attempts[2]).toBeLessThan(1_000);
  });

  test('[W-10] is reported again when a response was lost and the request timed out', async () => {
    const { machine, attempts, done } = report(
      (nth) => (nth === 1 ? new FourbeatError('unavailable', 'x') : null),
      { timeoutMs: 5_000 },
    );
    await machine.advance(10_000);
    expect(await done).toBe(true);
    expect(attempts).toHaveLength(2);
  });

  test('[W-10] is reported again when a report without a response was still in progress', async () => {
    const errors = [
      new FourbeatError('unavailable', 'x', 503),
      new FourbeatError('refused', 'x', 409),
    ];
    const { machine, attempts, done } = report((nth) => errors[nth - 1] ?? null);
    await machine.advance(10_000);
    expect(await done).toBe(true);
    expect(attempts).toHaveLength(3);
  });

  test('is reported for at most 10 s', async () => {
    const { machine, attempts, done } = report(() => new FourbeatError('unavailable', 'x'));
    await machine.advance(60_000);
    expect(await done).toBe(false);
    expect(attempts.at(-1)).toBeLessThan(10_000);
    expect(attempts.length).toBeLessThan(16);
  });

  test('[W-8] who has not won is rejected, and not reported again', async () => {
    const { machine, attempts, done } = report(() => new FourbeatError('denied', 'x', 401));
    await machine.advance(5_000);
    expect(await done).toBe(false);
    expect(attempts).toHaveLength(1);
  });

  test('[W-6] is reported at once in a hidden page, whose timers are late', async () => {
    const { machine, attempts, done } = report(() => null, { isHidden: true });
    await machine.settle();
    expect(attempts).toEqual([0]);
    expect(await done).toBe(true);
  });

  test('who leaves is not reported', async () => {
    const { machine, timers, attempts, done } = report(() => null);
    const thrown = done.catch(({ kind }) => kind);
    timers.stop();
    expect(await thrown).toBe('left');
    await machine.advance(5_000);
    expect(attempts).toEqual([]);
  });
});
