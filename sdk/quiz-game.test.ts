import { describe, expect, test } from 'bun:test';
import { QuizGame } from './quiz-game.ts';
import type { Quiz, QuizResults, StreamEvent } from './types.ts';

const FIRST = 7_040_000_000;

function quiz(id: string, at: number): Quiz {
  const none = { count: 0, percentage: 0 };
  return {
    id,
    streamId: 'stream',
    created: at * 250,
    duration: 5_000,
    closeInterval: at + 20,
    question: 'Which planet is the largest?',
    choices: { Mars: none, Jupiter: none },
    order: ['Mars', 'Jupiter'],
  };
}
const results = (of: Quiz, answer = 'Jupiter'): QuizResults => ({ ...of, answer });

/** A game that events are told to, so many intervals after the first one. */
function game({ isBeginning = true, saved = null as string | null } = {}) {
  const known = new QuizGame(saved);
  let next = FIRST;
  const tell = (at: number, ...events: StreamEvent[]) => {
    for (; next < FIRST + at; next++) {
      known.arrived({ interval: next, events: [] }, isBeginning);
    }
    known.arrived({ interval: next++, events }, isBeginning);
  };
  /** Asks, answers and reveals, and takes 30 intervals. */
  const play = (id: string, at: number, choice: string | null) => {
    const asked = quiz(id, FIRST + at);
    tell(at, { type: 'quiz', data: asked });
    if (choice !== null) {
      known.note(id, { choice });
      known.note(id, { outcome: 'counted' });
    }
    tell(at + 20, { type: 'quiz-results', data: results(asked) });
  };
  return { known, tell, play, skipTo: (at: number) => (next = FIRST + at) };
}

const request = { type: 'request-quiz-winners', data: null };
const winners = (count: number) => ({ type: 'quiz-winners', data: { count } });

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
