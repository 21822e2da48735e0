import { describe, expect, test } from 'bun:test';
import {
  createGameFixture,
  createQuiz,
  FIRST_INTERVAL,
  quizWinners,
  REQUEST_WINNERS,
} from '../test/support/sdk/quiz-game-fixture.ts';
import { QuizGame } from './quiz-game.ts';

describe('the stored game after a reload', () => {
  test('continues when nothing was missed', () => {
    const before = createGameFixture();
    before.play('a', 5, 'Jupiter');
    expect(before.quizGame.next).toBe(FIRST_INTERVAL + 26);
    const after = createGameFixture({ isBeginning: false, saved: before.quizGame.serialize() });
    after.skipTo(26);
    after.play('b', 30, 'Jupiter');
    expect(after.quizGame.isWinning(FIRST_INTERVAL + 50)).toBe(true);
  });

  test('is `null` for winning after a gap, unless an answer was wrong', () => {
    const right = createGameFixture();
    right.play('a', 5, 'Jupiter');
    const wrong = createGameFixture();
    wrong.play('a', 5, 'Mars');
    for (const [before, isWinning] of [
      [right, null],
      [wrong, false],
    ] as const) {
      const after = createGameFixture({ isBeginning: false, saved: before.quizGame.serialize() });
      after.skipTo(100);
      after.publish(100);
      expect(after.quizGame.isWinning(FIRST_INTERVAL + 100)).toBe(isWinning);
    }
  });

  test('has the open quiz, and the answer without an outcome', () => {
    const before = createGameFixture();
    const quiz = createQuiz('a', FIRST_INTERVAL + 5);
    before.publish(5, { type: 'quiz', data: quiz });
    before.update({ choice: 'Mars' });
    const after = createGameFixture({ saved: before.quizGame.serialize() });
    const [pending] = after.quizGame.pendingAnswers;
    expect(pending).toMatchObject({ quiz, choice: 'Mars' });
    expect(after.quizGame.quizAt(FIRST_INTERVAL + 10)?.choice).toBe('Mars');
    after.quizGame.update(pending?.quiz ?? quiz, { outcome: 'counted' });
    expect(after.quizGame.pendingAnswers).toEqual([]);
  });

  test('shows no quiz that closed meanwhile: its results may have been missed', () => {
    const before = createGameFixture();
    before.publish(5, { type: 'quiz', data: createQuiz('a', FIRST_INTERVAL + 5) });
    const after = createGameFixture({ saved: before.quizGame.serialize() });
    after.skipTo(100);
    after.publish(100);
    expect(after.quizGame.quizAt(FIRST_INTERVAL + 100)).toBeNull();
  });

  test('has the 40 newest quizzes of a game, and knows nothing of the earlier ones', () => {
    for (const [count, isWinning] of [
      [39, true],
      [41, null],
    ] as const) {
      const before = createGameFixture();
      for (let n = 0; n < count; n++) before.play(`${n}`, 5 + n * 25, 'Jupiter');
      const saved = before.quizGame.serialize();
      expect(JSON.parse(saved).quizzes).toHaveLength(Math.min(count, 40));
      const after = createGameFixture({ isBeginning: false, saved });
      expect(after.quizGame.isWinning(FIRST_INTERVAL + count * 25)).toBe(isWinning);
      expect(before.quizGame.isWinning(FIRST_INTERVAL + count * 25)).toBe(true);
    }
  });

  test('has the current and the previous game only', () => {
    const { quizGame, publish, play } = createGameFixture();
    for (let round = 0; round < 4; round++) {
      play(`quiz-${round}`, round * 100 + 5, 'Jupiter');
      publish(round * 100 + 40, REQUEST_WINNERS);
      publish(round * 100 + 44, quizWinners(1));
    }
    play('quiz-4', 405, 'Mars');
    const saved = quizGame.serialize();
    expect(saved).not.toContain('quiz-2');
    expect(saved).toContain('quiz-3');
    const after = new QuizGame(saved);
    expect(after.isWinning(FIRST_INTERVAL + 425)).toBe(false);
    // Older games are not known any more.
    expect(quizGame.isWinning(FIRST_INTERVAL + 125)).toBe(true);
    expect(after.isWinning(FIRST_INTERVAL + 125)).toBeNull();
  });

  test('is empty when it cannot be parsed', () => {
    expect(new QuizGame('{"rounds').next).toBe(0);
  });
});
