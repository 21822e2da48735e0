import { describe, expect, test } from 'bun:test';
import type { PresenterQuiz, PresenterState } from '../../protocol/presenter.ts';
import { Holding, type Scene, sceneOf } from './scene.ts';

const STREAM = { id: 'a', title: 'Quiz night', status: 'STREAMING' as const };
const EMPTY: PresenterState = { now: 0, stream: STREAM, count: 3, quiz: null, winners: null };
const QUIZ: PresenterQuiz = {
  id: 'q',
  question: 'Which planet is the largest?',
  order: ['Mars', 'Jupiter'],
  state: 'open',
  created: 10_000,
  duration: 5_000,
  closeInterval: 68,
  answered: 0,
  tally: {},
  results: null,
};
const results = { answer: 'Jupiter', choices: {} };
const REVEALED: PresenterQuiz = { ...QUIZ, state: 'revealed', tally: null, results };

describe('a show on the wall', () => {
  test('without a quiz is its title', () => {
    expect(sceneOf(EMPTY, 0)).toEqual({ kind: 'title' });
  });

  test('[B-14] counts an open quiz down as viewers see it, without the allowance', () => {
    const at = (nowMs: number) => sceneOf({ ...EMPTY, quiz: QUIZ }, nowMs);
    expect(at(11_000)).toMatchObject({ kind: 'quiz', remainingMs: 4_000 });
    expect(at(16_000)).toMatchObject({ kind: 'quiz', remainingMs: 0 });
  });

  test('has the winners after the quiz', () => {
    const state = { ...EMPTY, quiz: REVEALED, winners: { count: 2 } };
    expect(sceneOf(state, 20_000)).toEqual({ kind: 'winners', count: 2 });
  });

  test('is over with the show, but for a quiz that still runs', () => {
    const ended = { ...EMPTY, stream: { ...STREAM, status: 'ENDED' as const } };
    expect(sceneOf({ ...ended, quiz: REVEALED }, 20_000)).toEqual({ kind: 'over' });
    expect(sceneOf({ ...ended, quiz: QUIZ }, 11_000)).toMatchObject({ kind: 'quiz' });
  });
});

describe('results', () => {
  const shown: Scene = { kind: 'quiz', quiz: REVEALED, remainingMs: 0 };
  const asked: Scene = { kind: 'quiz', quiz: QUIZ, remainingMs: 1_000 };

  test('stay where nothing says how long', () => {
    const holding = new Holding(null);
    holding.of(asked, 0);
    expect([holding.of(shown, 1), holding.of(shown, 1e9)]).toEqual([shown, shown]);
  });

  test('go away after their time, and not before', () => {
    const holding = new Holding(5_000);
    expect(holding.of(asked, 0)).toBe(asked);
    expect(holding.of(asked, 60_000)).toBe(asked);
    expect(holding.of(shown, 61_000)).toBe(shown);
    expect(holding.of(shown, 65_999)).toBe(shown);
    expect(holding.of(shown, 66_000)).toEqual({ kind: 'title' });
  });

  test('that were there when the page was opened are not shown again', () => {
    expect(new Holding(5_000).of(shown, 0)).toEqual({ kind: 'title' });
  });

  test('give way to the winners, who have a time of their own', () => {
    const holding = new Holding(5_000);
    holding.of(asked, 0);
    holding.of(shown, 1_000);
    const winners: Scene = { kind: 'winners', count: 2 };
    expect(holding.of({ kind: 'winners', count: null }, 6_000)).toMatchObject({ count: null });
    expect(holding.of(winners, 7_000)).toBe(winners);
    expect(holding.of(winners, 12_000)).toEqual({ kind: 'title' });
  });
});
