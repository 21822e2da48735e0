import { describe, expect, test } from 'bun:test';
import {
  FIRST,
  game,
  quiz,
  request,
  results,
  winners,
} from '../test/support/sdk/quiz-game-fixture.ts';

describe('the quiz on screen', () => {
  test('is there from its interval on, with the choice and what became of it', () => {
    const { known, tell } = game();
    const asked = quiz('a', FIRST + 5);
    tell(5, { type: 'quiz', data: asked });
    expect(known.quizAt(FIRST + 4)).toBeNull();
    const view = { quiz: asked, choice: null, outcome: null, results: null };
    expect(known.quizAt(FIRST + 5)).toEqual(view);
    known.note('a', { choice: 'Mars' });
    expect(known.quizAt(FIRST + 5)).toEqual({ ...view, choice: 'Mars' });
    known.note('a', { outcome: 'counted' });
    expect(known.quizAt(FIRST + 5)?.outcome).toBe('counted');
  });

  test('has its results when they are on screen, and no sooner', () => {
    const { known, play } = game();
    play('a', 5, 'Mars');
    expect(known.quizAt(FIRST + 24)?.results).toBeNull();
    expect(known.quizAt(FIRST + 25)?.results?.answer).toBe('Jupiter');
  });

  test('goes 10 s after its results', () => {
    const { known, play } = game();
    play('a', 5, null);
    expect(known.quizAt(FIRST + 25 + 39)).not.toBeNull();
    expect(known.quizAt(FIRST + 25 + 40)).toBeNull();
  });

  test('waits for results that the producer holds back', () => {
    const { known, tell } = game();
    tell(5, { type: 'quiz', data: quiz('a', FIRST + 5) });
    tell(3_000);
    expect(known.quizAt(FIRST + 3_000)?.quiz.id).toBe('a');
  });

  test('is gone when the picture jumped over its close, and maybe over its results', () => {
    const { known } = game();
    const asked = quiz('a', FIRST + 5);
    known.learn({ interval: FIRST + 5, events: [{ type: 'quiz', data: asked }] });
    expect(known.quizAt(FIRST + 30, FIRST)?.quiz.id).toBe('a');
    expect(known.quizAt(FIRST + 24, FIRST + 24)?.quiz.id).toBe('a');
    expect(known.quizAt(FIRST + 30, FIRST + 30)).toBeNull();
    // Back again it is there.
    expect(known.quizAt(FIRST + 6, FIRST + 6)?.quiz.id).toBe('a');
  });

  test('stays when the picture jumped over what the feed brought: there were no results in it', () => {
    const { known, tell } = game();
    tell(5, { type: 'quiz', data: quiz('a', FIRST + 5) });
    tell(100);
    expect(known.quizAt(FIRST + 90, FIRST + 80)?.quiz.id).toBe('a');
  });

  test('is the newest of those that are open, whatever results come', () => {
    const { known, tell } = game();
    const first = quiz('a', FIRST);
    tell(0, { type: 'quiz', data: first });
    tell(10, { type: 'quiz', data: quiz('b', FIRST + 10) });
    tell(20, { type: 'quiz-results', data: results(first) });
    expect(known.quizAt(FIRST + 9)?.quiz.id).toBe('a');
    expect(known.quizAt(FIRST + 10)?.quiz.id).toBe('b');
    expect(known.quizAt(FIRST + 20)?.quiz.id).toBe('b');
    // From the close of b on, it is the results that were told last.
    expect(known.quizAt(FIRST + 30)?.quiz.id).toBe('a');
  });

  test('is known by its results alone when it was asked before the viewer came', () => {
    const { known, tell } = game({ isBeginning: false });
    tell(3, { type: 'quiz-results', data: results(quiz('a', FIRST - 17)) });
    expect(known.quizAt(FIRST + 3)).toMatchObject({ choice: null, results: { answer: 'Jupiter' } });
  });
});

describe('whether the viewer is winning', () => {
  test('it is who answers all correctly, none yet included', () => {
    const { known, play } = game();
    play('a', 5, 'Jupiter');
    expect(known.isWinning(FIRST)).toBe(true);
    play('b', 50, 'Jupiter');
    expect(known.isWinning(FIRST + 100)).toBe(true);
    play('c', 100, 'Mars');
    play('d', 150, 'Jupiter');
    expect(known.isWinning(FIRST + 200)).toBe(false);
  });

  test('it is not told before the results are on screen', () => {
    const { known, play } = game();
    play('a', 5, 'Mars');
    expect(known.isWinning(FIRST + 24)).toBe(true);
    expect(known.isWinning(FIRST + 25)).toBe(false);
  });

  test('who does not answer does not win', () => {
    const { known, play } = game();
    play('a', 5, null);
    expect(known.isWinning(FIRST + 25)).toBe(false);
  });

  test.each([
    ['counted', 'Jupiter', true],
    ['counted', 'Mars', false],
    ['too-late', 'Jupiter', false],
    // What counts is another answer than this one.
    ['other-answer', 'Jupiter', false],
    ['other-answer', 'Mars', null],
    ['unknown', 'Jupiter', null],
    ['unknown', 'Mars', false],
  ] as const)('an answer that is %s, of %s: %p', (outcome, choice, isWinning) => {
    const { known, play } = game();
    play('a', 5, choice);
    known.note('a', { outcome });
    expect(known.isWinning(FIRST + 25)).toBe(isWinning);
  });

  test('who came in the middle of a game cannot know, unless something was wrong', () => {
    const { known, play } = game({ isBeginning: false });
    play('a', 5, 'Jupiter');
    expect(known.isWinning(FIRST + 25)).toBeNull();
    play('b', 50, 'Mars');
    expect(known.isWinning(FIRST + 70)).toBe(false);
  });

  test('nor can who came before the results of a quiz: it may have been answered on another visit', () => {
    const { known, tell } = game({ isBeginning: false });
    tell(3, { type: 'quiz-results', data: results(quiz('a', FIRST - 17)) });
    expect(known.isWinning(FIRST + 3)).toBeNull();
  });

  test('nor can who has missed some of it', () => {
    const { known, play, skipTo } = game();
    play('a', 5, 'Jupiter');
    skipTo(40);
    play('b', 50, 'Jupiter');
    expect(known.isWinning(FIRST + 30)).toBeNull();
    expect(known.isWinning(FIRST + 70)).toBeNull();
  });
});

describe('[W-1] a game', () => {
  test('ends with its winners: the next one begins with the quizzes after the request', () => {
    const { known, tell, play } = game({ isBeginning: false });
    play('a', 5, 'Mars');
    tell(40, request);
    // Until the winners are told it is about the game that they won.
    expect(known.isWinning(FIRST + 43)).toBe(false);
    tell(44, winners(12));
    expect(known.isWinning(FIRST + 44)).toBe(true);
    play('b', 50, 'Jupiter');
    expect(known.isWinning(FIRST + 70)).toBe(true);
  });

  test('is as it was where the picture goes back to', () => {
    const { known, tell, play } = game();
    play('a', 5, 'Mars');
    tell(40, request);
    tell(44, winners(0));
    expect(known.isWinning(FIRST + 25)).toBe(false);
    expect(known.winnersAt(FIRST + 43).count).toBeNull();
  });

  test('tells of its winners when the count is on screen', () => {
    const { known, tell } = game();
    tell(40, request);
    known.won(FIRST + 40);
    tell(44, winners(12));
    expect(known.winnersAt(FIRST + 43)).toMatchObject({ hasWon: false, count: null });
    expect(known.winnersAt(FIRST + 44)).toMatchObject({ hasWon: true, count: 12 });
    tell(60, request);
    tell(64, winners(3));
    expect(known.winnersAt(FIRST + 64)).toMatchObject({ hasWon: false, count: 3 });
  });

  test('whose request was missed is told all the same', () => {
    const { known, tell } = game({ isBeginning: false });
    tell(2, winners(12));
    expect(known.winnersAt(FIRST + 2)).toMatchObject({ hasWon: false, count: 12 });
    tell(100, request);
    tell(104, winners(3));
    expect(known.winnersAt(FIRST + 50).count).toBe(12);
    expect(known.winnersAt(FIRST + 104).count).toBe(3);
  });

  test('whose request was missed is another one than the one before', () => {
    const { known, tell } = game();
    tell(40, request);
    tell(44, winners(12));
    tell(104, winners(3));
    expect(known.winnersAt(FIRST + 50).count).toBe(12);
    expect(known.winnersAt(FIRST + 104).count).toBe(3);
  });

  test('is where it belongs when a recording tells of it later', () => {
    const { known, tell } = game();
    tell(140, request);
    tell(144, winners(3));
    known.learn({ interval: FIRST + 40, events: [request] });
    known.learn({ interval: FIRST + 44, events: [winners(12)] });
    expect(known.winnersAt(FIRST + 44).count).toBe(12);
    expect(known.winnersAt(FIRST + 144).count).toBe(3);
  });

  test('whose count was missed does not go on', () => {
    const { known, tell, play, skipTo } = game();
    tell(40, request);
    skipTo(60);
    tell(60);
    expect(known.winnersAt(FIRST + 60)).toEqual({ isWinning: null, hasWon: false, count: null });
    play('a', 65, 'Mars');
    expect(known.isWinning(FIRST + 90)).toBe(false);
  });
});
