import { describe, expect, test } from 'bun:test';
import type { ViewerQuiz } from '../../sdk/viewer.ts';
import { QUIZ, RESULTS } from '../../test/support/player/pages/fake-viewer.ts';
import { type Heard, voiceOf, warningOf } from './quiz-voice.ts';

const NOBODY: Heard = {
  quiz: null,
  remainingMs: 0,
  winners: { isWinning: null },
  isOver: false,
};
const heard = (remainingMs: number, more: Partial<ViewerQuiz> = {}): Heard => ({
  ...NOBODY,
  quiz: { quiz: QUIZ, choice: null, outcome: null, results: null, ...more },
  remainingMs,
});

/** What is said of these, one after another; null is left out. */
function allSaid(...all: readonly Heard[]): string[] {
  return all.flatMap((now, index) => voiceOf(all[index - 1] ?? null, now) ?? []);
}

describe('what a screen reader says of a quiz', () => {
  test('is the question with its choices and its time, once', () => {
    expect(allSaid(NOBODY, heard(19_800), heard(19_700), heard(15_000))).toEqual([
      'Quiz: Which planet is the largest in the solar system? 1: Mars, 2: Jupiter, 3: Venus. 20 seconds.',
    ]);
  });

  test('is what was chosen, and what became of it', () => {
    const said = allSaid(
      heard(12_000),
      heard(11_000, { choice: 'Mars' }),
      heard(10_500, { choice: 'Mars', outcome: 'counted' }),
    );
    expect(said.slice(1)).toEqual([
      'Mars is chosen. Your answer is on its way.',
      'Your answer counts.',
    ]);
  });

  test('is that time is up, once', () => {
    expect(allSaid(heard(100), heard(0), heard(0)).slice(1)).toEqual([
      'Time is up. The results come soon.',
    ]);
    const chosen = { choice: 'Mars', outcome: 'counted' } as const;
    expect(allSaid(heard(100, chosen), heard(0, chosen)).slice(1)).toEqual([
      'Time is up. Your answer counts.',
    ]);
  });

  test('is the answer with its share, what was chosen, and whether the viewer may still win', () => {
    const right = { choice: 'Jupiter', outcome: 'counted', results: RESULTS } as const;
    const winning = { ...heard(0, right), winners: { isWinning: true } };
    expect(allSaid(heard(0), winning, winning).slice(1)).toEqual([
      'The answer is Jupiter, chosen by 70 percent. Correct! All your answers so far are correct: you can still win.',
    ]);
    const wrong = { choice: 'Mars', outcome: 'counted', results: RESULTS } as const;
    expect(voiceOf(heard(0), heard(0, wrong))).toBe(
      'The answer is Jupiter, chosen by 70 percent. You chose Mars. Not this time.',
    );
  });

  test('is the question too, for who comes when it is closed or revealed', () => {
    expect(voiceOf(null, heard(0))).toBe(
      'Quiz: Which planet is the largest in the solar system? Time is up. The results come soon.',
    );
    expect(voiceOf(NOBODY, heard(0, { results: RESULTS }))).toBe(
      'Which planet is the largest in the solar system? The answer is Jupiter, chosen by 70 percent. You did not answer this one.',
    );
  });

  test('is the next question, when one quiz follows another', () => {
    const next = heard(9_000, { quiz: { ...QUIZ, id: 'next', question: 'And now?' } });
    expect(voiceOf(heard(0, { results: RESULTS }), next)).toStartWith('Quiz: And now?');
  });

  test('of a show that is over is that it was asked then', () => {
    expect(voiceOf(NOBODY, { ...heard(0), isOver: true })).toBe(
      'Quiz: Which planet is the largest in the solar system? Answers were taken during the show.',
    );
  });

  test('is nothing when there is none', () => {
    expect(allSaid(NOBODY, NOBODY)).toEqual([]);
    expect(voiceOf(heard(0, { results: RESULTS }), NOBODY)).toBeNull();
  });
});

describe('what is said when there is time for it', () => {
  /** With so much left, one after another. */
  function warned(times: readonly number[], more: Partial<ViewerQuiz> = {}): string[] {
    const [saidMs = 0] = times;
    const all = times.map((ms) => heard(ms, more));
    return all.flatMap((now, index) => warningOf(all[index - 1] ?? null, now, saidMs) ?? []);
  }

  test('is how much time is left, at 10 and 5 seconds, once each', () => {
    const times = [19_000, 10_100, 10_000, 9_900, 5_100, 4_900, 4_800];
    expect(warned(times)).toEqual(['10 seconds left.', '5 seconds left.']);
  });

  test('is nothing while the question is read out', () => {
    expect(warned([11_000, 10_100, 9_900, 5_100, 4_900])).toEqual(['5 seconds left.']);
    expect(warned([8_000, 5_100, 4_900, 100])).toEqual([]);
  });

  test('is nothing to who has answered', () => {
    const chosen = { choice: 'Mars', outcome: 'counted' } as const;
    expect(warned([19_000, 10_100, 9_900], chosen)).toEqual([]);
  });
});
