import { describe, expect, test } from 'bun:test';
import type { ViewerQuiz } from '../../sdk/viewer.ts';
import { QUIZ, RESULTS } from '../../test/support/player/pages/fake-viewer.ts';
import { announcementOf, type QuizState, warningOf } from './quiz-announcements.ts';

const NO_QUIZ: QuizState = {
  quiz: null,
  remainingMs: 0,
  winners: { isWinning: null },
  isOver: false,
};
const stateWith = (remainingMs: number, fields: Partial<ViewerQuiz> = {}): QuizState => ({
  ...NO_QUIZ,
  quiz: { quiz: QUIZ, choice: null, outcome: null, results: null, ...fields },
  remainingMs,
});

/** The announcements of consecutive states, without null. */
function announcementsOf(...states: readonly QuizState[]): string[] {
  return states.flatMap((now, index) => announcementOf(states[index - 1] ?? null, now) ?? []);
}

describe('the quiz announcement', () => {
  test('has the question with its choices and its time, once', () => {
    const states = [NO_QUIZ, stateWith(19_800), stateWith(19_700), stateWith(15_000)];
    expect(announcementsOf(...states)).toEqual([
      'Quiz: Which planet is the largest in the solar system? 1: Mars, 2: Jupiter, 3: Venus. 20 seconds.',
    ]);
  });

  test('has the choice, then the outcome of the answer', () => {
    const announcements = announcementsOf(
      stateWith(12_000),
      stateWith(11_000, { choice: 'Mars' }),
      stateWith(10_500, { choice: 'Mars', outcome: 'counted' }),
    );
    expect(announcements.slice(1)).toEqual([
      'You chose Mars. Sending your answer…',
      'Answer locked in!',
    ]);
  });

  test('says once that time is up', () => {
    expect(announcementsOf(stateWith(100), stateWith(0), stateWith(0)).slice(1)).toEqual([
      'Time is up. Results coming soon.',
    ]);
    const answered = { choice: 'Mars', outcome: 'counted' } as const;
    expect(announcementsOf(stateWith(100, answered), stateWith(0, answered)).slice(1)).toEqual([
      'Time is up. Answer locked in!',
    ]);
  });

  test('has the answer with its share, the own choice, and whether the viewer can still win', () => {
    const right = { choice: 'Jupiter', outcome: 'counted', results: RESULTS } as const;
    const winning = { ...stateWith(0, right), winners: { isWinning: true } };
    expect(announcementsOf(stateWith(0), winning, winning).slice(1)).toEqual([
      'The answer is Jupiter, chosen by 70 percent. Correct! All your answers so far are correct. You can still win!',
    ]);
    const wrong = { choice: 'Mars', outcome: 'counted', results: RESULTS } as const;
    expect(announcementOf(stateWith(0), stateWith(0, wrong))).toBe(
      'The answer is Jupiter, chosen by 70 percent. You chose Mars. Not this time.',
    );
  });

  test('has the question too, when the viewer joins after the close or the results', () => {
    expect(announcementOf(null, stateWith(0))).toBe(
      'Quiz: Which planet is the largest in the solar system? Time is up. Results coming soon.',
    );
    expect(announcementOf(NO_QUIZ, stateWith(0, { results: RESULTS }))).toBe(
      'Which planet is the largest in the solar system? The answer is Jupiter, chosen by 70 percent. You did not answer this one.',
    );
  });

  test('has the next question, when one quiz follows another', () => {
    const next = stateWith(9_000, { quiz: { ...QUIZ, id: 'next', question: 'And now?' } });
    expect(announcementOf(stateWith(0, { results: RESULTS }), next)).toStartWith('Quiz: And now?');
  });

  test('says in a replay that the quiz was part of the live show', () => {
    expect(announcementOf(NO_QUIZ, { ...stateWith(0), isOver: true })).toBe(
      'Quiz: Which planet is the largest in the solar system? Viewers answered this during the live show.',
    );
  });

  test('is null without a quiz', () => {
    expect(announcementsOf(NO_QUIZ, NO_QUIZ)).toEqual([]);
    expect(announcementOf(stateWith(0, { results: RESULTS }), NO_QUIZ)).toBeNull();
  });
});

describe('the warning that little time is left', () => {
  /** The warnings while the remaining time takes these values, ms. */
  function warningsAt(times: readonly number[], fields: Partial<ViewerQuiz> = {}): string[] {
    const [announcedMs = 0] = times;
    const states = times.map((ms) => stateWith(ms, fields));
    return states.flatMap(
      (now, index) => warningOf(states[index - 1] ?? null, now, announcedMs) ?? [],
    );
  }

  test('comes at 10 and 5 seconds, once each', () => {
    const times = [19_000, 10_100, 10_000, 9_900, 5_100, 4_900, 4_800];
    expect(warningsAt(times)).toEqual(['10 seconds left.', '5 seconds left.']);
  });

  test('does not interrupt the question while it is read out', () => {
    expect(warningsAt([11_000, 10_100, 9_900, 5_100, 4_900])).toEqual(['5 seconds left.']);
    expect(warningsAt([8_000, 5_100, 4_900, 100])).toEqual([]);
  });

  test('does not come after an answer', () => {
    const answered = { choice: 'Mars', outcome: 'counted' } as const;
    expect(warningsAt([19_000, 10_100, 9_900], answered)).toEqual([]);
  });
});
