import { describe, expect, test } from 'bun:test';
import { FakeMachine } from '../test/support/sdk/fake-environment.ts';
import { sendAnswer } from './answers.ts';
import { CancellableTimers } from './cancellable-timers.ts';
import { FourbeatError } from './errors.ts';
import type { Quiz } from './types.ts';

const OPEN_MS = 5_000;
const unavailable = new FourbeatError('unavailable', 'no answer');
const down = new FourbeatError('unavailable', 'down', 503, 1_000);
const busy = new FourbeatError('busy', 'too much', 429, 2_000);
const denied = new FourbeatError('denied', 'no', 401);
const conflict = new FourbeatError('refused', 'conflict', 409);

/** Answers when the quiz opens. @param reply error of the nth attempt; null: success */
function send(reply: (nth: number, atMs: number) => FourbeatError | null, { errorMs = 10 } = {}) {
  const machine = new FakeMachine();
  const startMs = machine.nowMs;
  const quiz = { id: 'quiz', closeInterval: (startMs + OPEN_MS) / 250 } as Quiz;
  const attempts: { readonly atMs: number; readonly choice: string }[] = [];
  const api = {
    answer: async (target: Quiz, choice: string) => {
      expect(target).toBe(quiz);
      const atMs = machine.nowMs - startMs;
      attempts.push({ atMs, choice });
      const error = reply(attempts.length, atMs);
      if (error) throw error;
    },
  };
  const timers = new CancellableTimers(machine.environment);
  const clock = { nowMs: () => machine.nowMs, errorMs };
  let outcome: unknown = null;
  void sendAnswer({ env: machine.environment, clock, api, timers }, quiz, 'Mars')
    .catch((error) => error)
    .then((result) => {
      outcome = result;
    });
  return { machine, timers, attempts, outcome: () => outcome };
}

describe('an answer', () => {
  test('is `counted` when the service accepts it', async () => {
    const { machine, attempts, outcome } = send(() => null);
    await machine.settle();
    expect(outcome()).toBe('counted');
    expect(attempts).toHaveLength(1);
  });

  test('is resent soon, with the same choice, until the service accepts it', async () => {
    const { machine, attempts, outcome } = send((nth) => (nth < 5 ? unavailable : null));
    await machine.advance(OPEN_MS);
    expect(outcome()).toBe('counted');
    expect(attempts).toHaveLength(5);
    expect(new Set(attempts.map(({ choice }) => choice))).toEqual(new Set(['Mars']));
    const waitsMs = attempts.slice(1).map(({ atMs }, nth) => atMs - (attempts[nth]?.atMs ?? 0));
    for (const ms of waitsMs) expect(ms >= 200 && ms <= 1_000).toBe(true);
  });

  test('is resent after the Retry-After of the service', async () => {
    const { machine, attempts, outcome } = send((nth) => (nth < 2 ? busy : null));
    await machine.advance(1_999);
    expect(attempts).toHaveLength(1);
    await machine.advance(1_000);
    expect(outcome()).toBe('counted');
  });

  const isOpen = (atMs: number) => atMs < OPEN_MS;

  test.each([
    ['counted', 'a token of a retry is valid', (nth) => (nth < 3 ? denied : null)],
    [
      'counted',
      '[Q-13] a retry after the close finds that an attempt without a response counts',
      (_, atMs) => (isOpen(atMs) ? unavailable : null),
    ],
    [
      'counted',
      'an attempt without a response was still in progress after the close',
      (_, atMs) => {
        if (isOpen(atMs)) return unavailable;
        return atMs < OPEN_MS + 1_000 ? conflict : null;
      },
    ],
    ['other-answer', '[Q-14] the service rejects it before the close', () => conflict],
    ['too-late', 'every attempt was rejected with `busy`', () => busy],
  ] as [outcome: string, when: string, reply: Parameters<typeof send>[0]][])(
    'is `%s` when %s',
    async (expected, _, reply) => {
      const { machine, outcome } = send(reply);
      await machine.advance(10_000);
      expect(outcome()).toBe(expected);
    },
  );

  test('is `too-late` when the clock is too inaccurate to tell it from `other-answer`', async () => {
    const { machine, outcome } = send(() => conflict, { errorMs: OPEN_MS });
    await machine.settle();
    expect(outcome()).toBe('too-late');
  });

  test('[Q-12] is `too-late` when the service rejects it after the close', async () => {
    const { machine, attempts, outcome } = send((_, atMs) => (atMs < OPEN_MS ? busy : conflict));
    await machine.advance(10_000);
    expect(outcome()).toBe('too-late');
    expect(attempts.at(-1)?.atMs).toBeGreaterThanOrEqual(OPEN_MS);
  });

  test('is `unknown` when the service does not respond until 3 s after the close', async () => {
    const { machine, attempts, outcome } = send(() => down);
    await machine.advance(OPEN_MS + 2_900);
    expect(outcome()).toBeNull();
    await machine.advance(200);
    expect(outcome()).toBe('unknown');
    const count = attempts.length;
    await machine.advance(60_000);
    expect(attempts).toHaveLength(count);
  });

  test('is `unknown` at once when Retry-After ends over 3 s after the close', async () => {
    const { machine, attempts, outcome } = send(
      () => new FourbeatError('unavailable', 'down', 503, 60_000),
    );
    await machine.settle();
    expect(outcome()).toBe('unknown');
    expect(attempts).toHaveLength(1);
  });

  test('is resent after a sleep past the close, to learn the result', async () => {
    const { machine, outcome } = send((_, atMs) => (atMs < OPEN_MS ? unavailable : null));
    await machine.advance(1_000);
    await machine.sleep(600_000);
    await machine.advance(1_000);
    expect(outcome()).toBe('counted');
  });

  test.each(['refused', 'unknown', 'left'] as const)(
    'is not resent after the error %s',
    async (kind) => {
      const error = new FourbeatError(kind, 'no', kind === 'unknown' ? 404 : 400);
      const { machine, attempts, outcome } = send(() => error);
      await machine.advance(10_000);
      expect(outcome()).toBe(error);
      expect(attempts).toHaveLength(1);
    },
  );

  test('is rejected with `left` when the viewer leaves', async () => {
    const { machine, timers, outcome } = send(() => unavailable);
    await machine.settle();
    timers.stop();
    await machine.settle();
    expect(outcome()).toMatchObject({ kind: 'left' });
    expect(machine.pendingTimers).toBe(0);
  });
});
