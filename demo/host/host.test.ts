import { describe, expect, test } from 'bun:test';
import { TRIVIA, triviaOf } from '../../crowd/trivia.ts';
import { newQuizSchema, type StudioQuiz, type WinnersRound } from '../../protocol/studio.ts';
import { Host } from './host.ts';
import { StudioError } from './studio-client.ts';

/** A fake studio that records its calls, on a clock that jumps from cue to cue. */
function setUp(durationMs: number, conflicts = 0) {
  const calls: string[] = [];
  const expected: [string, number][] = [];
  let nowMs = 1_000_000;
  let quizzes = 0;
  let refusals = conflicts;
  const record = (call: string) => {
    calls.push(`${nowMs - 1_000_000} ${call}`);
  };
  const refuse = () => {
    if (refusals-- > 0) throw new StudioError(409, 'too early');
  };
  const studio = {
    createQuiz: async () => ({ id: `q${++quizzes}` }) as StudioQuiz,
    publishQuiz: async (id: string) => {
      record(`publish ${id}`);
      return { id } as StudioQuiz;
    },
    revealQuiz: async (id: string) => {
      refuse();
      record(`reveal ${id}`);
      return { id } as StudioQuiz;
    },
    requestWinners: async () => {
      refuse();
      record('winners');
      return {} as WinnersRound;
    },
    sendEvent: async (_: string, type: string) => {
      record(type);
      return { id: '' };
    },
  };
  const host = new Host({
    studio,
    streamId: 's',
    quizEveryMs: 20_000,
    nowMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
    isOver: () => nowMs - 1_000_000 >= durationMs,
    onExpected: (key, inMs) => expected.push([key, inMs]),
  });
  return { host, calls, expected };
}

describe('Host', () => {
  test('[O-17] the host runs the show on schedule and ends with it', async () => {
    const { host, calls } = setUp(75_000);
    await host.run();
    expect(calls).toEqual([
      '0 publish q1',
      '4000 purchase',
      '20000 publish q2',
      '26000 discount',
      '40000 publish q3',
      '48000 caption',
      '55000 winners',
      '60000 publish q4',
      '64000 purchase',
      '73000 reveal q4',
    ]);
  });

  test('[I-2] the host reports the events to expect', async () => {
    const { host, expected } = setUp(75_000);
    await host.run();
    expect(expected.filter(([key]) => key.startsWith('quiz'))).toEqual([
      ['quiz q1', 0],
      ['quiz-results q1', 10_000],
      ['quiz q2', 0],
      ['quiz-results q2', 10_000],
      ['quiz q3', 0],
      ['quiz-results q3', 10_000],
      ['quiz q4', 0],
      ['quiz-results q4', 0],
    ]);
    expect(expected).toContainEqual(['request-quiz-winners 1', 0]);
    expect(expected).toContainEqual(['purchase Enamel mug, order 1001', 0]);
    expect(expected).toContainEqual(['caption {"text":"Question 4 is next"}', 0]);
  });

  test('[W-3] the host retries while the results are not out', async () => {
    const { host, calls } = setUp(58_000, 3);
    await host.run();
    expect(calls.at(-1)).toBe('55750 winners');
  });

  test('the host does not wait for the service after the show', async () => {
    const { host, calls, expected } = setUp(55_500, 30);
    await host.run();
    expect(calls.at(-1)).toBe('48000 caption');
    expect(expected.some(([key]) => key.startsWith('request'))).toBe(false);
  });

  test('the host throws when the service rejects a request', async () => {
    const { host } = setUp(600_000, 1_000);
    await expect(host.run()).rejects.toThrow('too early');
  });
});

test('[Q-3] every trivia question is a valid quiz', () => {
  expect(TRIVIA.length).toBeGreaterThanOrEqual(20);
  for (const { question, choices, answer } of TRIVIA) {
    expect(newQuizSchema.safeParse({ question, choices, answer, duration: 10_000 }).error).toBe(
      undefined,
    );
    expect(triviaOf(question)?.answer).toBe(answer);
  }
});
