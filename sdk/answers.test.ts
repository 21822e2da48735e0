import { describe, expect, test } from 'bun:test';
import { FakeMachine } from '../test/support/sdk/fake-environment.ts';
import { sendAnswer } from './answers.ts';
import { FourbeatError } from './errors.ts';
import type { Quiz } from './types.ts';
import { CancellableTimers } from './waits.ts';

const OPEN_MS = 5_000;
const away = new FourbeatError('away', 'no answer');
const down = new FourbeatError('away', 'down', 503, 1_000);
const busy = new FourbeatError('busy', 'too much', 429, 2_000);
const denied = new FourbeatError('denied', 'no', 401);
const conflict = new FourbeatError('refused', 'conflict', 409);

/** An answer that is sent when the quiz opens. @param reply what comes of the nth try, by its time, ms */
function send(reply: (try_: number, atMs: number) => FourbeatError | null, { errorMs = 10 } = {}) {
  const machine = new FakeMachine();
  const startMs = machine.nowMs;
  const quiz = { id: 'quiz', closeInterval: (startMs + OPEN_MS) / 250 } as Quiz;
  const tries: { readonly atMs: number; readonly choice: string }[] = [];
  const calls = {
    answer: async (of: Quiz, choice: string) => {
      expect(of).toBe(quiz);
      const atMs = machine.nowMs - startMs;
      tries.push({ atMs, choice });
      const trouble = reply(tries.length, atMs);
      if (trouble) throw trouble;
    },
  };
  const waits = new CancellableTimers(machine.environment);
  const clock = { nowMs: () => machine.nowMs, errorMs };
  let outcome: unknown = null;
  sendAnswer({ env: machine.environment, clock, calls, waits }, quiz, 'Mars').then(
    (known) => {
      outcome = known;
    },
    (trouble) => {
      outcome = trouble;
    },
  );
  return { machine, waits, tries, outcome: () => outcome };
}

describe('an answer', () => {
  test('counts when the service says so', async () => {
    const { machine, tries, outcome } = send(() => null);
    await machine.settle();
    expect(outcome()).toBe('counted');
    expect(tries).toHaveLength(1);
  });

  test('is tried again soon, with the same choice, until the service says so', async () => {
    const { machine, tries, outcome } = send((nth) => (nth < 5 ? away : null));
    await machine.advance(OPEN_MS);
    expect(outcome()).toBe('counted');
    expect(tries).toHaveLength(5);
    expect(new Set(tries.map(({ choice }) => choice))).toEqual(new Set(['Mars']));
    const waits = tries.slice(1).map(({ atMs }, nth) => atMs - (tries[nth]?.atMs ?? 0));
    for (const ms of waits) expect(ms >= 200 && ms <= 1_000).toBe(true);
  });

  test('waits as long as the service wishes', async () => {
    const { machine, tries, outcome } = send((nth) => (nth < 2 ? busy : null));
    await machine.advance(1_999);
    expect(tries).toHaveLength(1);
    await machine.advance(1_000);
    expect(outcome()).toBe('counted');
  });

  test('goes on while a token is not taken: the next one may be', async () => {
    const { machine, outcome } = send((nth) => (nth < 3 ? denied : null));
    await machine.advance(OPEN_MS);
    expect(outcome()).toBe('counted');
  });

  test('[Q-14] is another one than that of elsewhere, when it is refused before the close', async () => {
    const { machine, outcome } = send(() => conflict);
    await machine.settle();
    expect(outcome()).toBe('other-answer');
  });

  test('[Q-12] is too late when it is refused after the close', async () => {
    const { machine, tries, outcome } = send((_, atMs) => (atMs < OPEN_MS ? busy : conflict));
    await machine.advance(10_000);
    expect(outcome()).toBe('too-late');
    expect(tries.at(-1)?.atMs).toBeGreaterThanOrEqual(OPEN_MS);
  });

  test('is not called another one where the clock cannot tell', async () => {
    const { machine, outcome } = send(() => conflict, { errorMs: OPEN_MS });
    await machine.settle();
    expect(outcome()).toBe('too-late');
  });

  test('[Q-13] counts when a try came through whose answer was lost, as one hears after the close', async () => {
    const { machine, outcome } = send((_, atMs) => (atMs < OPEN_MS ? away : null));
    await machine.advance(10_000);
    expect(outcome()).toBe('counted');
  });

  test('whose try was lost is asked for once more after it was refused: it may still be on its way', async () => {
    const { machine, outcome } = send((nth, atMs) => {
      if (atMs < OPEN_MS) return away;
      return nth < 15 && atMs < OPEN_MS + 1_000 ? conflict : null;
    });
    await machine.advance(10_000);
    expect(outcome()).toBe('counted');
  });

  test('is unknown when nothing is heard until 3 s after the close', async () => {
    const { machine, tries, outcome } = send(() => down);
    await machine.advance(OPEN_MS + 2_900);
    expect(outcome()).toBeNull();
    await machine.advance(200);
    expect(outcome()).toBe('unknown');
    const count = tries.length;
    await machine.advance(60_000);
    expect(tries).toHaveLength(count);
  });

  test('is unknown at once when the service wishes to hear nothing until then', async () => {
    const { machine, tries, outcome } = send(() => new FourbeatError('away', 'down', 503, 60_000));
    await machine.settle();
    expect(outcome()).toBe('unknown');
    expect(tries).toHaveLength(1);
  });

  test('that never reached the service does not count, and that is no secret', async () => {
    const { machine, outcome } = send(() => busy);
    await machine.advance(10_000);
    expect(outcome()).toBe('too-late');
  });

  test('is asked for once after a sleep, and the service tells the truth', async () => {
    const { machine, outcome } = send((_, atMs) => (atMs < OPEN_MS ? away : null));
    await machine.advance(1_000);
    await machine.sleep(600_000);
    await machine.advance(1_000);
    expect(outcome()).toBe('counted');
  });

  test.each(['refused', 'unknown', 'left'] as const)(
    'that is %s is not tried again',
    async (kind) => {
      const trouble = new FourbeatError(kind, 'no', kind === 'unknown' ? 404 : 400);
      const { machine, tries, outcome } = send(() => trouble);
      await machine.advance(10_000);
      expect(outcome()).toBe(trouble);
      expect(tries).toHaveLength(1);
    },
  );

  test('is given up by who leaves', async () => {
    const { machine, waits, outcome } = send(() => away);
    await machine.settle();
    waits.stop();
    await machine.settle();
    expect(outcome()).toMatchObject({ kind: 'left' });
    expect(machine.waiting).toBe(0);
  });
});
