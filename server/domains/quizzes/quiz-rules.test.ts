import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { QUIZ_STATES, quizResultsSchema, quizSchema } from '../../../protocol/quizzes.ts';
import {
  choiceCounts,
  closeIntervalOf,
  decideAnswer,
  isOpenAt,
  quizEventData,
  quizResultsData,
  winnersBlockers,
} from './quiz-rules.ts';

describe('[Q-4] closeInterval', () => {
  test.each([
    { createdMs: 0, durationMs: 1_000, latencyAllowanceMs: 0, closeInterval: 4 },
    { createdMs: 1, durationMs: 1_000, latencyAllowanceMs: 0, closeInterval: 5 },
    { createdMs: 249, durationMs: 1_000, latencyAllowanceMs: 0, closeInterval: 5 },
    { createdMs: 250, durationMs: 1_000, latencyAllowanceMs: 0, closeInterval: 5 },
    { createdMs: 250, durationMs: 1_000, latencyAllowanceMs: 1, closeInterval: 6 },
    { createdMs: 250, durationMs: 1_000, latencyAllowanceMs: 4_000, closeInterval: 21 },
  ])(
    'closeInterval is $closeInterval after $createdMs + $durationMs + $latencyAllowanceMs ms',
    (row) => {
      expect(closeIntervalOf(row)).toBe(row.closeInterval);
    },
  );

  test('closeInterval starts less than 250 ms after the duration and the allowance', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 42 }),
        fc.integer({ min: 1_000, max: 600_000 }),
        fc.integer({ min: 0, max: 60_000 }),
        (createdMs, durationMs, latencyAllowanceMs) => {
          const closeInterval = closeIntervalOf({ createdMs, durationMs, latencyAllowanceMs });
          const endMs = createdMs + durationMs + latencyAllowanceMs;
          const quiz = { state: 'open', closeInterval } as const;
          expect(isOpenAt(quiz, intervalAt(endMs - 1))).toBe(true);
          expect(isOpenAt(quiz, intervalAt(endMs + 249))).toBe(false);
          expect(intervalStartMs(closeInterval) - endMs).toBeLessThan(250);
        },
      ),
    );
  });
});

describe('[Q-12] isOpenAt', () => {
  test.each([
    { state: 'open', interval: 99, isOpen: true },
    { state: 'open', interval: 100, isOpen: false },
    { state: 'open', interval: 101, isOpen: false },
    { state: 'draft', interval: 99, isOpen: false },
    { state: 'closed', interval: 99, isOpen: false },
    { state: 'revealed', interval: 99, isOpen: false },
  ] as const)('isOpenAt is $isOpen: $state at interval $interval, closeInterval 100', (row) => {
    expect(isOpenAt({ state: row.state, closeInterval: 100 }, row.interval)).toBe(row.isOpen);
  });
});

describe('an answer', () => {
  const closeInterval = 100;
  test.each([
    ['[Q-7] that is the first and in time is accepted', null, 'open', 99, 'accepted'],
    ['[Q-12] that is new at the closeInterval returns closed', null, 'open', 100, 'closed'],
    ['[Q-12] that is new after the close returns closed', null, 'revealed', 101, 'closed'],
    [
      '[Q-17] that is in time but stored after the count returns closed',
      null,
      'closed',
      99,
      'closed',
    ],
    [
      '[Q-17] that is in time but stored after the reveal returns closed',
      null,
      'revealed',
      99,
      'closed',
    ],
    ['[Q-10] to a draft returns closed', null, 'draft', 99, 'closed'],
    ['[Q-13] that repeats the stored choice is a duplicate', 2, 'open', 99, 'duplicate'],
    ['[Q-13] that repeats at the closeInterval is a duplicate', 2, 'open', 100, 'duplicate'],
    ['[Q-13] that repeats after the close is a duplicate', 2, 'closed', 101, 'duplicate'],
    ['[Q-13] that repeats after the results is a duplicate', 2, 'revealed', 9_999, 'duplicate'],
    ['[Q-14] that differs from the stored choice is a conflict', 1, 'open', 99, 'conflict'],
    ['[Q-14] that differs from stored choice 0 is a conflict', 0, 'open', 99, 'conflict'],
    ['[Q-14] that differs after the close is a conflict', 1, 'closed', 101, 'conflict'],
    ['[Q-14] that differs after the results is a conflict', 1, 'revealed', 101, 'conflict'],
  ] as const)('%s', (_, recordedChoice, state, arrivalInterval, decision) => {
    const answer = { recordedChoice, choice: 2, state, arrivalInterval, closeInterval };
    expect(decideAnswer(answer)).toBe(decision);
  });

  test('[I-3] an answer is accepted only if none is stored and the quiz is open', () => {
    fc.assert(
      fc.property(
        fc.record({
          recordedChoice: fc.option(fc.nat({ max: 2 })),
          choice: fc.nat({ max: 2 }),
          state: fc.constantFrom(...QUIZ_STATES),
          arrivalInterval: fc.integer({ min: 95, max: 105 }),
        }),
        (answer) => {
          const isFresh = answer.recordedChoice === null;
          const isInTime = answer.state === 'open' && answer.arrivalInterval < closeInterval;
          const decision = decideAnswer({ ...answer, closeInterval });
          expect(decision === 'accepted').toBe(isFresh && isInTime);
          expect(decision === 'duplicate').toBe(answer.recordedChoice === answer.choice);
        },
      ),
    );
  });
});

describe('[W-3] a winners round can begin', () => {
  const quizOf = (state: (typeof QUIZ_STATES)[number], question: string) => ({ state, question });

  test('a winners round can begin in a game without quizzes', () => {
    expect(winnersBlockers([])).toEqual([]);
  });

  test('a winners round can begin once every quiz of the game is revealed', () => {
    expect(winnersBlockers([quizOf('revealed', 'one?'), quizOf('revealed', 'two?')])).toEqual([]);
  });

  test('a winners round cannot begin while a quiz is open or not revealed', () => {
    const game = [quizOf('revealed', 'one?'), quizOf('closed', 'two?'), quizOf('open', 'three?')];
    expect(winnersBlockers(game)).toEqual([
      'The quiz "two?" is not revealed yet.',
      'The quiz "three?" is still open.',
    ]);
  });

  test('a winners round can begin while a quiz of the game is a draft', () => {
    expect(winnersBlockers([quizOf('draft', 'one?')])).toEqual([]);
  });
});

const QUIZ = {
  id: '7e1e3f3a-1f0e-4f6b-9a54-0c5b0a2f1d11',
  streamId: 'b0a4ae6c-54f9-43cb-a0f8-3f5b4b3c2a22',
  question: 'When does Orwell’s book play?',
  choices: ['Never', '1984', '__proto__'],
  answer: 1,
  durationMs: 10_000,
  created: 1_700_000_000_100,
  closeInterval: 6_800_000_041,
};

describe('the data of a quiz event', () => {
  test('[F-29] the data of a quiz event has exactly the fields of the interface, and order', () => {
    expect(JSON.stringify(quizEventData(QUIZ))).toBe(
      '{"id":"7e1e3f3a-1f0e-4f6b-9a54-0c5b0a2f1d11",' +
        '"streamId":"b0a4ae6c-54f9-43cb-a0f8-3f5b4b3c2a22",' +
        '"created":1700000000100,"duration":10000,"closeInterval":6800000041,' +
        '"question":"When does Orwell’s book play?","choices":{' +
        '"1984":{"count":0,"percentage":0},"Never":{"count":0,"percentage":0},' +
        '"__proto__":{"count":0,"percentage":0}},"order":["Never","1984","__proto__"]}',
    );
  });

  test('[Q-22] the data of a quiz event does not depend on the answer', () => {
    expect(quizEventData({ ...QUIZ, answer: 0 })).toEqual(quizEventData({ ...QUIZ, answer: 1 }));
  });

  test('[F-32] the data of a quiz-results event adds answer, counts and percentages', () => {
    const results = quizResultsData(QUIZ, [1, 5, 2]);
    expect(Object.keys(results)).toEqual([...Object.keys(quizEventData(QUIZ)), 'answer']);
    expect(results.answer).toBe('1984');
    expect(results.order).toEqual(['Never', '1984', '__proto__']);
    expect(JSON.stringify(results.choices)).toBe(
      '{"1984":{"count":5,"percentage":62},"Never":{"count":1,"percentage":13},' +
        '"__proto__":{"count":2,"percentage":25}}',
    );
    const { choices, answer, ...rest } = results;
    const { choices: _, ...published } = quizEventData(QUIZ);
    expect(rest).toEqual(published);
  });

  test('the data of a quiz event matches the schemas of the protocol', () => {
    const quiz = { ...QUIZ, choices: ['Never', '1984', 'constructor'] };
    expect(quizSchema.strict().safeParse(quizEventData(quiz)).error).toBeUndefined();
    const results = quizResultsData(quiz, [1, 5, 2]);
    expect(quizResultsSchema.strict().safeParse(results).error).toBeUndefined();
  });

  test('quizResultsData throws when the answer is not a choice', () => {
    expect(() => quizResultsData({ ...QUIZ, answer: 3 }, [1, 5, 2])).toThrow(RangeError);
  });

  test('[Q-20] quizResultsData keeps each count under its choice, whatever the text', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.constantFrom('1984', '0', '-1', '__proto__', 'constructor', 'toString', 'length'),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(anyText, fc.nat()), {
          selector: ([text]) => text,
          minLength: 2,
          maxLength: 10,
        }),
        (list) => {
          const choices = list.map(([text]) => text);
          const counts = list.map(([, count]) => count);
          const { order, choices: map } = JSON.parse(
            JSON.stringify(quizResultsData({ ...QUIZ, choices, answer: 0 }, counts)),
          );
          expect(order).toEqual(choices);
          expect(Object.keys(map)).toHaveLength(choices.length);
          const found = choices.map((text) => Object.getOwnPropertyDescriptor(map, text)?.value);
          expect(found.map(({ count }) => count)).toEqual(counts);
        },
      ),
    );
  });

  test('choiceCounts throws unless there is one count for each choice', () => {
    expect(() => choiceCounts(['a', 'b'], [1])).toThrow(RangeError);
    expect(() => choiceCounts(['a'], [1, 2])).toThrow(RangeError);
  });
});
