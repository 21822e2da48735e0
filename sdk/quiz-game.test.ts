import { describe, expect, test } from 'bun:test';
import {
  createGameFixture,
  createQuiz,
  createResults,
  FIRST_INTERVAL,
  quizWinners,
  REQUEST_WINNERS,
} from '../test/support/sdk/quiz-game-fixture.ts';

describe('the quiz on screen', () => {
  test('appears from its interval on, with the choice and its outcome', () => {
    const { quizGame, update, publish } = createGameFixture();
    const quiz = createQuiz('a', FIRST_INTERVAL + 5);
    publish(5, { type: 'quiz', data: quiz });
    expect(quizGame.quizAt(FIRST_INTERVAL + 4)).toBeNull();
    const view = { quiz, choice: null, outcome: null, results: null };
    expect(quizGame.quizAt(FIRST_INTERVAL + 5)).toEqual(view);
    update({ choice: 'Mars' });
    expect(quizGame.quizAt(FIRST_INTERVAL + 5)).toEqual({ ...view, choice: 'Mars' });
    update({ outcome: 'counted' });
    expect(quizGame.quizAt(FIRST_INTERVAL + 5)?.outcome).toBe('counted');
  });

  test('has its results from their interval on', () => {
    const { quizGame, play } = createGameFixture();
    play('a', 5, 'Mars');
    expect(quizGame.quizAt(FIRST_INTERVAL + 24)?.results).toBeNull();
    expect(quizGame.quizAt(FIRST_INTERVAL + 25)?.results?.answer).toBe('Jupiter');
  });

  test('disappears 10 s after its results', () => {
    const { quizGame, play } = createGameFixture();
    play('a', 5, null);
    expect(quizGame.quizAt(FIRST_INTERVAL + 25 + 39)).not.toBeNull();
    expect(quizGame.quizAt(FIRST_INTERVAL + 25 + 40)).toBeNull();
  });

  test('stays until the producer publishes delayed results', () => {
    const { quizGame, publish } = createGameFixture();
    publish(5, { type: 'quiz', data: createQuiz('a', FIRST_INTERVAL + 5) });
    publish(3_000);
    expect(quizGame.quizAt(FIRST_INTERVAL + 3_000)?.quiz.id).toBe('a');
  });

  test('disappears when playback jumps past its close, because its results may be skipped', () => {
    const { quizGame } = createGameFixture();
    const quiz = createQuiz('a', FIRST_INTERVAL + 5);
    quizGame.apply({ interval: FIRST_INTERVAL + 5, events: [{ type: 'quiz', data: quiz }] });
    expect(quizGame.quizAt(FIRST_INTERVAL + 30, FIRST_INTERVAL)?.quiz.id).toBe('a');
    expect(quizGame.quizAt(FIRST_INTERVAL + 24, FIRST_INTERVAL + 24)?.quiz.id).toBe('a');
    expect(quizGame.quizAt(FIRST_INTERVAL + 30, FIRST_INTERVAL + 30)).toBeNull();
    // It is shown again after a jump back.
    expect(quizGame.quizAt(FIRST_INTERVAL + 6, FIRST_INTERVAL + 6)?.quiz.id).toBe('a');
  });

  test('is open again without its answer when the service lost it and it was published again', () => {
    const { quizGame, update, publish } = createGameFixture();
    const lost = createQuiz('a', FIRST_INTERVAL + 5);
    publish(5, { type: 'quiz', data: lost });
    update({ choice: 'Mars', outcome: 'counted' });
    const again = createQuiz('a', FIRST_INTERVAL + 15);
    publish(15, { type: 'quiz', data: again });
    const view = { quiz: again, choice: null, outcome: null, results: null };
    expect(quizGame.quizAt(FIRST_INTERVAL + 15)).toEqual(view);
    update({ choice: 'Jupiter', outcome: 'counted' });
    // The outcome of the lost answer comes late.
    quizGame.update(lost, { choice: null });
    publish(35, { type: 'quiz-results', data: createResults(again) });
    expect(quizGame.isWinning(FIRST_INTERVAL + 35)).toBe(true);
    publish(76);
    expect(quizGame.quizAt(FIRST_INTERVAL + 76)).toBeNull();
  });

  test('stays when playback jumps over received intervals without results', () => {
    const { quizGame, publish } = createGameFixture();
    publish(5, { type: 'quiz', data: createQuiz('a', FIRST_INTERVAL + 5) });
    publish(100);
    expect(quizGame.quizAt(FIRST_INTERVAL + 90, FIRST_INTERVAL + 80)?.quiz.id).toBe('a');
  });

  test('is the newest open quiz, even when results of an earlier one are published', () => {
    const { quizGame, publish } = createGameFixture();
    const first = createQuiz('a', FIRST_INTERVAL);
    publish(0, { type: 'quiz', data: first });
    publish(10, { type: 'quiz', data: createQuiz('b', FIRST_INTERVAL + 10) });
    publish(20, { type: 'quiz-results', data: createResults(first) });
    expect(quizGame.quizAt(FIRST_INTERVAL + 9)?.quiz.id).toBe('a');
    expect(quizGame.quizAt(FIRST_INTERVAL + 10)?.quiz.id).toBe('b');
    expect(quizGame.quizAt(FIRST_INTERVAL + 20)?.quiz.id).toBe('b');
    // From the close of b on, the newest results are shown.
    expect(quizGame.quizAt(FIRST_INTERVAL + 30)?.quiz.id).toBe('a');
  });

  test('comes from its results when it was published before the viewer joined', () => {
    const { quizGame, publish } = createGameFixture({ isBeginning: false });
    publish(3, { type: 'quiz-results', data: createResults(createQuiz('a', FIRST_INTERVAL - 17)) });
    expect(quizGame.quizAt(FIRST_INTERVAL + 3)).toMatchObject({
      choice: null,
      results: { answer: 'Jupiter' },
    });
  });
});

describe('isWinning', () => {
  test('is true while all answers are correct, also before the first quiz', () => {
    const { quizGame, play } = createGameFixture();
    play('a', 5, 'Jupiter');
    expect(quizGame.isWinning(FIRST_INTERVAL)).toBe(true);
    play('b', 50, 'Jupiter');
    expect(quizGame.isWinning(FIRST_INTERVAL + 100)).toBe(true);
    play('c', 100, 'Mars');
    play('d', 150, 'Jupiter');
    expect(quizGame.isWinning(FIRST_INTERVAL + 200)).toBe(false);
  });

  test('does not change before the results are on screen', () => {
    const { quizGame, play } = createGameFixture();
    play('a', 5, 'Mars');
    expect(quizGame.isWinning(FIRST_INTERVAL + 24)).toBe(true);
    expect(quizGame.isWinning(FIRST_INTERVAL + 25)).toBe(false);
  });

  test('is false after a quiz without an answer', () => {
    const { quizGame, play } = createGameFixture();
    play('a', 5, null);
    expect(quizGame.isWinning(FIRST_INTERVAL + 25)).toBe(false);
  });

  test.each([
    ['counted', 'Jupiter', true],
    ['counted', 'Mars', false],
    ['too-late', 'Jupiter', false],
    // A different answer of this viewer counted.
    ['other-answer', 'Jupiter', false],
    ['other-answer', 'Mars', null],
    ['unknown', 'Jupiter', null],
    ['unknown', 'Mars', false],
  ] as const)(
    'for an answer with the outcome %s and the choice %s is %p',
    (outcome, choice, isWinning) => {
      const { quizGame, update, play } = createGameFixture();
      play('a', 5, choice);
      update({ outcome });
      expect(quizGame.isWinning(FIRST_INTERVAL + 25)).toBe(isWinning);
    },
  );

  test('is null after joining in the middle of a game, unless an answer was wrong', () => {
    const { quizGame, play } = createGameFixture({ isBeginning: false });
    play('a', 5, 'Jupiter');
    expect(quizGame.isWinning(FIRST_INTERVAL + 25)).toBeNull();
    play('b', 50, 'Mars');
    expect(quizGame.isWinning(FIRST_INTERVAL + 70)).toBe(false);
  });

  test('is null when only results arrived: another visit may have answered the quiz', () => {
    const { quizGame, publish } = createGameFixture({ isBeginning: false });
    publish(3, { type: 'quiz-results', data: createResults(createQuiz('a', FIRST_INTERVAL - 17)) });
    expect(quizGame.isWinning(FIRST_INTERVAL + 3)).toBeNull();
  });

  test('is null after a gap', () => {
    const { quizGame, play, skipTo } = createGameFixture();
    play('a', 5, 'Jupiter');
    skipTo(40);
    play('b', 50, 'Jupiter');
    expect(quizGame.isWinning(FIRST_INTERVAL + 30)).toBeNull();
    expect(quizGame.isWinning(FIRST_INTERVAL + 70)).toBeNull();
  });
});

describe('[W-1] a game', () => {
  test('ends with its winners; the next one starts with the quizzes after the request', () => {
    const { quizGame, publish, play } = createGameFixture({ isBeginning: false });
    play('a', 5, 'Mars');
    publish(40, REQUEST_WINNERS);
    // Until the winners are published, `isWinning` refers to the game that ends.
    expect(quizGame.isWinning(FIRST_INTERVAL + 43)).toBe(false);
    publish(44, quizWinners(12));
    expect(quizGame.isWinning(FIRST_INTERVAL + 44)).toBe(true);
    play('b', 50, 'Jupiter');
    expect(quizGame.isWinning(FIRST_INTERVAL + 70)).toBe(true);
  });

  test('has its earlier state after a jump back', () => {
    const { quizGame, publish, play } = createGameFixture();
    play('a', 5, 'Mars');
    publish(40, REQUEST_WINNERS);
    publish(44, quizWinners(0));
    expect(quizGame.isWinning(FIRST_INTERVAL + 25)).toBe(false);
    expect(quizGame.winnersAt(FIRST_INTERVAL + 43).count).toBeNull();
  });

  test('has its winners when the count is on screen', () => {
    const { quizGame, publish } = createGameFixture();
    publish(40, REQUEST_WINNERS);
    quizGame.recordWin(FIRST_INTERVAL + 40);
    publish(44, quizWinners(12));
    expect(quizGame.winnersAt(FIRST_INTERVAL + 43)).toMatchObject({ hasWon: false, count: null });
    expect(quizGame.winnersAt(FIRST_INTERVAL + 44)).toMatchObject({ hasWon: true, count: 12 });
    publish(60, REQUEST_WINNERS);
    publish(64, quizWinners(3));
    expect(quizGame.winnersAt(FIRST_INTERVAL + 64)).toMatchObject({ hasWon: false, count: 3 });
  });

  test('has its winners even when the request for them was missed', () => {
    const { quizGame, publish } = createGameFixture({ isBeginning: false });
    publish(2, quizWinners(12));
    expect(quizGame.winnersAt(FIRST_INTERVAL + 2)).toMatchObject({ hasWon: false, count: 12 });
    publish(100, REQUEST_WINNERS);
    publish(104, quizWinners(3));
    expect(quizGame.winnersAt(FIRST_INTERVAL + 50).count).toBe(12);
    expect(quizGame.winnersAt(FIRST_INTERVAL + 104).count).toBe(3);
  });

  test('is distinct from the previous one even when its request for winners was missed', () => {
    const { quizGame, publish } = createGameFixture();
    publish(40, REQUEST_WINNERS);
    publish(44, quizWinners(12));
    publish(104, quizWinners(3));
    expect(quizGame.winnersAt(FIRST_INTERVAL + 50).count).toBe(12);
    expect(quizGame.winnersAt(FIRST_INTERVAL + 104).count).toBe(3);
  });

  test('is inserted in order when its events arrive later from a recording', () => {
    const { quizGame, publish } = createGameFixture();
    publish(140, REQUEST_WINNERS);
    publish(144, quizWinners(3));
    quizGame.apply({ interval: FIRST_INTERVAL + 40, events: [REQUEST_WINNERS] });
    quizGame.apply({ interval: FIRST_INTERVAL + 44, events: [quizWinners(12)] });
    expect(quizGame.winnersAt(FIRST_INTERVAL + 44).count).toBe(12);
    expect(quizGame.winnersAt(FIRST_INTERVAL + 144).count).toBe(3);
  });

  test('is over even when its winner count was missed', () => {
    const { quizGame, publish, play, skipTo } = createGameFixture();
    publish(40, REQUEST_WINNERS);
    skipTo(60);
    publish(60);
    expect(quizGame.winnersAt(FIRST_INTERVAL + 60)).toEqual({
      isWinning: null,
      hasWon: false,
      count: null,
    });
    play('a', 65, 'Mars');
    expect(quizGame.isWinning(FIRST_INTERVAL + 90)).toBe(false);
  });
});
