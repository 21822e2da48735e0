import { describe, expect, test } from 'bun:test';
import { FIRST, game, quiz, request, winners } from '../test/support/sdk/quiz-game-fixture.ts';
import { QuizGame } from './quiz-game.ts';

describe('what is kept over a reload', () => {
  test('goes on where it was when nothing was missed', () => {
    const before = game();
    before.play('a', 5, 'Jupiter');
    expect(before.known.next).toBe(FIRST + 26);
    const after = game({ isBeginning: false, saved: before.known.saved() });
    after.skipTo(26);
    after.play('b', 30, 'Jupiter');
    expect(after.known.isWinning(FIRST + 50)).toBe(true);
  });

  test('a part that was missed is not known, but what was wrong is', () => {
    const right = game();
    right.play('a', 5, 'Jupiter');
    const wrong = game();
    wrong.play('a', 5, 'Mars');
    for (const [before, isWinning] of [
      [right, null],
      [wrong, false],
    ] as const) {
      const after = game({ isBeginning: false, saved: before.known.saved() });
      after.skipTo(100);
      after.tell(100);
      expect(after.known.isWinning(FIRST + 100)).toBe(isWinning);
    }
  });

  test('has the quiz that is open, and the answer that nobody has heard of', () => {
    const before = game();
    const asked = quiz('a', FIRST + 5);
    before.tell(5, { type: 'quiz', data: asked });
    before.known.note('a', { choice: 'Mars' });
    const after = game({ saved: before.known.saved() });
    expect(after.known.unsettled).toMatchObject([{ quiz: asked, choice: 'Mars' }]);
    expect(after.known.quizAt(FIRST + 10)?.choice).toBe('Mars');
    after.known.note('a', { outcome: 'counted' });
    expect(after.known.unsettled).toEqual([]);
  });

  test('has no quiz on screen that closed meanwhile: its results may have been missed', () => {
    const before = game();
    before.tell(5, { type: 'quiz', data: quiz('a', FIRST + 5) });
    const after = game({ saved: before.known.saved() });
    after.skipTo(100);
    after.tell(100);
    expect(after.known.quizAt(FIRST + 100)).toBeNull();
  });

  test('is small: games before the last one are forgotten', () => {
    const { known, tell, play } = game();
    for (let round = 0; round < 4; round++) {
      play(`quiz-${round}`, round * 100 + 5, 'Jupiter');
      tell(round * 100 + 40, request);
      tell(round * 100 + 44, winners(1));
    }
    play('quiz-4', 405, 'Mars');
    const saved = known.saved();
    expect(saved).not.toContain('quiz-2');
    expect(saved).toContain('quiz-3');
    const after = new QuizGame(saved);
    expect(after.isWinning(FIRST + 425)).toBe(false);
    // What was forgotten is not known any more.
    expect(known.isWinning(FIRST + 125)).toBe(true);
    expect(after.isWinning(FIRST + 125)).toBeNull();
  });

  test('is not there when it cannot be read', () => {
    expect(new QuizGame('{"rounds').next).toBe(0);
  });
});
