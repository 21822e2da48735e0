import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import type { QuizResults } from '../../protocol/quizzes.ts';
import { sampleQuiz } from '../../test/support/crowd/events.ts';
import { AnswerLedger, type AnswerOutcome } from './answer-ledger.ts';

const CLOSE_MS = intervalStartMs(6_800_000_040);
const CHOICES = ['Mars', 'Jupiter', '1984'] as const;

const quizOf = (id = 'quiz') =>
  sampleQuiz({ id, closeInterval: intervalAt(CLOSE_MS), order: [...CHOICES] });

function resultsOf(counts: readonly number[], quiz = quizOf()): QuizResults {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const shares = counts.map((count) => (total === 0 ? 0 : Math.floor((count / total) * 100)));
  // Largest remainder method: missing points go to the largest fractions.
  const byFraction = counts
    .map((count, index) => ({ index, rest: (count / (total || 1)) * 100 - (shares[index] ?? 0) }))
    .sort((a, b) => b.rest - a.rest);
  let missing = total === 0 ? 0 : 100 - shares.reduce((sum, share) => sum + share, 0);
  for (const { index } of byFraction) {
    if (missing-- > 0) shares[index] = (shares[index] ?? 0) + 1;
  }
  const choices = CHOICES.map((choice, index) => {
    return [choice, { count: counts[index] ?? 0, percentage: shares[index] ?? 0 }] as const;
  });
  return { ...quiz, choices: Object.fromEntries(choices), answer: 'Jupiter' };
}

const early = { sentMs: CLOSE_MS - 5_000, doneMs: CLOSE_MS - 4_990 };
const late = { sentMs: CLOSE_MS + 10, doneMs: CLOSE_MS + 20 };

function answer(
  ledger: AnswerLedger,
  viewer: number,
  choice: string,
  outcome: AnswerOutcome,
  { sentMs, doneMs } = early,
): string | null {
  return ledger.checkResponse(ledger.sent(quizOf(), viewer, choice, sentMs), outcome, doneMs);
}

const answers = fc.array(
  fc.record({
    viewer: fc.nat({ max: 5 }),
    choice: fc.constantFrom(...CHOICES),
    late: fc.boolean(),
    // Whether the request arrives at the service, and whether its response arrives at the viewer.
    arrives: fc.boolean(),
    isAnswered: fc.boolean(),
  }),
  { maxLength: 40 },
);

type Sent = typeof answers extends fc.Arbitrary<infer Steps> ? Steps : never;

/** A model of a service that follows, with lost requests and responses. */
function simulate(sent: Sent) {
  const ledger = new AnswerLedger();
  const recorded = new Map<number, string>();
  const mismatches: (string | null)[] = [];
  // In order of time: first those before the close, then those after it.
  for (const step of [...sent].sort((a, b) => Number(a.late) - Number(b.late))) {
    const times = step.late ? late : early;
    const attempt = ledger.sent(quizOf(), step.viewer, step.choice, times.sentMs);
    if (step.arrives && !step.late && !recorded.has(step.viewer)) {
      recorded.set(step.viewer, step.choice);
    }
    const isRecordedChoice = recorded.get(step.viewer) === step.choice;
    const outcome =
      step.arrives && step.isAnswered ? (isRecordedChoice ? 'recorded' : 'refused') : 'unknown';
    mismatches.push(ledger.checkResponse(attempt, outcome, times.doneMs));
  }
  const counts = CHOICES.map((choice) => [...recorded.values()].filter((c) => c === choice).length);
  return { ledger, counts, mismatches };
}

describe('AnswerLedger', () => {
  test('[I-3] AnswerLedger finds no mismatch in a correct service, whatever responses are lost', () => {
    fc.assert(
      fc.property(answers, (sent) => {
        const { ledger, counts, mismatches } = simulate(sent);
        expect(mismatches.filter((mismatch) => mismatch !== null)).toEqual([]);
        expect(ledger.check(resultsOf(counts))).toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  test('[I-3] AnswerLedger reports a count that is one or two answers too high or too low', () => {
    fc.assert(
      fc.property(
        answers,
        fc.nat({ max: 2 }),
        fc.constantFrom(-2, -1, 1, 2),
        (sent, choice, deviation) => {
          const delivered = sent.map((step) => ({ ...step, arrives: true, isAnswered: true }));
          const { ledger, counts } = simulate(delivered);
          counts[choice] = (counts[choice] ?? 0) + deviation;
          expect(ledger.check(resultsOf(counts))).toContain('were acknowledged');
        },
      ),
    );
  });

  test('[Q-12] AnswerLedger reports an answer that is acknowledged after the close', () => {
    const ledger = new AnswerLedger();
    expect(answer(ledger, 1, 'Mars', 'recorded', late)).toContain('after the close');
    expect(answer(ledger, 2, 'Mars', 'refused', late)).toBeNull();
  });

  test('[Q-12] AnswerLedger reports an answer that is refused before the close', () => {
    const ledger = new AnswerLedger();
    expect(answer(ledger, 1, 'Mars', 'refused')).toContain('before the close');
  });

  test('[Q-13] AnswerLedger requires that a repeated answer is acknowledged, also after the close', () => {
    const ledger = new AnswerLedger();
    expect(answer(ledger, 1, 'Mars', 'recorded')).toBeNull();
    expect(answer(ledger, 1, 'Mars', 'recorded', late)).toBeNull();
    expect(answer(ledger, 1, 'Mars', 'refused', late)).toContain('its own answer');
  });

  test('[Q-14] AnswerLedger requires that a different answer is refused', () => {
    const ledger = new AnswerLedger();
    answer(ledger, 1, 'Mars', 'recorded');
    expect(answer(ledger, 1, 'Jupiter', 'refused')).toBeNull();
    expect(answer(ledger, 1, 'Jupiter', 'recorded')).toContain('two answers');
    expect(ledger.recordedCounts('quiz')).toEqual([1, 0, 0]);
  });

  test('[R-15] AnswerLedger allows an answer without a response to count for one choice or not', () => {
    const ledger = new AnswerLedger();
    answer(ledger, 1, 'Mars', 'unknown');
    expect(ledger.check(resultsOf([0, 0, 0]))).toBeNull();
    expect(ledger.check(resultsOf([1, 0, 0]))).toBeNull();
    expect(ledger.check(resultsOf([0, 1, 0]))).not.toBeNull();
    answer(ledger, 1, 'Mars', 'recorded', late);
    expect(ledger.check(resultsOf([0, 0, 0]))).not.toBeNull();
  });

  test('[Q-21] AnswerLedger reports percentages that do not match the counts', () => {
    const ledger = new AnswerLedger();
    for (const viewer of [1, 2, 3]) answer(ledger, viewer, 'Mars', 'recorded');
    const results = resultsOf([3, 0, 0]);
    expect(ledger.check(results)).toBeNull();
    const wrong = { ...results.choices, Mars: { count: 3, percentage: 99 } };
    expect(ledger.check({ ...results, choices: wrong })).toContain('percentages');
  });

  test('[Q-22] AnswerLedger reports a new quiz with counts or with its answer', () => {
    const ledger = new AnswerLedger();
    expect(ledger.onQuiz(quizOf())).toBeNull();
    expect(ledger.onQuiz(resultsOf([0, 0, 0]))).toContain('contains its answer');
    const counted = { ...quizOf('b').choices, Mars: { count: 1, percentage: 100 } };
    expect(ledger.onQuiz({ ...quizOf('b'), choices: counted })).toContain('has counts');
    expect(ledger.onQuiz({ ...quizOf('c'), order: ['Mars'] })).toContain('order');
  });

  test('[Q-14] AnswerLedger allows one answer for each viewer from outside', () => {
    fc.assert(
      fc.property(
        answers,
        fc.array(fc.nat({ max: 2 }), { maxLength: 4 }),
        fc.nat({ max: 5 }),
        (sent, chosen, others) => {
          const delivered = sent.map((step) => ({ ...step, arrives: true, isAnswered: true }));
          const { ledger, counts } = simulate(delivered);
          for (const choice of chosen) counts[choice] = (counts[choice] ?? 0) + 1;
          const mismatch = ledger.check(resultsOf(counts), others);
          expect(mismatch === null).toBe(chosen.length <= others);
        },
      ),
    );
  });

  test('[I-3] AnswerLedger reports a missing answer of the crowd, whatever the number of external viewers', () => {
    const ledger = new AnswerLedger();
    for (const viewer of [1, 2]) answer(ledger, viewer, 'Mars', 'recorded');
    expect(ledger.check(resultsOf([1, 3, 0]), Number.POSITIVE_INFINITY)).toContain('count 1');
  });

  test('[W-7] AnswerLedger bounds external winners by the right answers that the crowd did not send', () => {
    const ledger = new AnswerLedger();
    const quizzes = [quizOf('a'), quizOf('b')];
    for (const quiz of quizzes) {
      ledger.checkResponse(ledger.sent(quiz, 1, 'Jupiter', early.sentMs), 'recorded', early.doneMs);
      ledger.sent(quiz, 2, 'Jupiter', early.sentMs);
    }
    ledger.onResults(resultsOf([0, 4, 9], quizzes[0]));
    ledger.onResults(resultsOf([0, 2, 9], quizzes[1]));
    expect(ledger.externalViewersQualified(['a'])).toBe(3);
    expect(ledger.externalViewersQualified(['a', 'b'])).toBe(1);
    expect(ledger.externalViewersQualified(['a', 'unseen'])).toBe(0);
    expect(ledger.externalViewersQualified([])).toBe(Number.POSITIVE_INFINITY);
  });

  test('[W-7] AnswerLedger qualifies a viewer who has the right answer to every quiz', () => {
    const ledger = new AnswerLedger();
    ledger.onQuiz(quizOf());
    answer(ledger, 1, 'Jupiter', 'recorded');
    answer(ledger, 2, 'Mars', 'recorded');
    answer(ledger, 3, 'Jupiter', 'unknown');
    ledger.onResults(resultsOf([1, 1, 0]));
    const qualifications = [1, 2, 3, 4].map((viewer) => ledger.qualification(['quiz'], viewer));
    expect(qualifications).toEqual(['yes', 'no', 'maybe', 'no']);
    expect(ledger.qualification(['quiz', 'unseen'], 1)).toBe('no');
    expect(ledger.qualification([], 4)).toBe('yes');
  });
});
