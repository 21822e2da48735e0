import { describe, expect, test } from 'bun:test';
import type { PresenterQuiz, PresenterState } from '../../protocol/presenter.ts';
import { type Scene, SceneTimeout, sceneOf } from './scene.ts';

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
const RESULTS = { answer: 'Jupiter', choices: {} };
const REVEALED: PresenterQuiz = { ...QUIZ, state: 'revealed', tally: null, results: RESULTS };

describe('sceneOf', () => {
  test('is the title without a quiz', () => {
    expect(sceneOf(EMPTY, 0)).toEqual({ kind: 'title' });
  });

  test('[B-14] counts an open quiz down as viewers see it, without the latency allowance', () => {
    const at = (nowMs: number) => sceneOf({ ...EMPTY, quiz: QUIZ }, nowMs);
    expect(at(11_000)).toMatchObject({ kind: 'quiz', remainingMs: 4_000 });
    expect(at(16_000)).toMatchObject({ kind: 'quiz', remainingMs: 0 });
  });

  test('is the winners after the quiz', () => {
    const winners = { count: 2, first: [{ code: 'KOTA-4729', name: 'Ada' }] };
    const state = { ...EMPTY, quiz: REVEALED, winners };
    expect(sceneOf(state, 20_000)).toEqual({ kind: 'winners', ...winners });
  });

  test('is the end after the show, except while a quiz is open', () => {
    const ended = { ...EMPTY, stream: { ...STREAM, status: 'ENDED' as const } };
    expect(sceneOf({ ...ended, quiz: REVEALED }, 20_000)).toEqual({ kind: 'over' });
    expect(sceneOf({ ...ended, quiz: QUIZ }, 11_000)).toMatchObject({ kind: 'quiz' });
  });
});

describe('SceneTimeout', () => {
  const results: Scene = { kind: 'quiz', quiz: REVEALED, remainingMs: 0 };
  const openQuiz: Scene = { kind: 'quiz', quiz: QUIZ, remainingMs: 1_000 };

  test('keeps results without a hold time', () => {
    const sceneTimeout = new SceneTimeout(null);
    sceneTimeout.apply(openQuiz, 0);
    expect(sceneTimeout.apply(results, 1)).toBe(results);
    expect(sceneTimeout.apply(results, 1e9)).toBe(results);
  });

  test('hides results after the hold time', () => {
    const sceneTimeout = new SceneTimeout(5_000);
    expect(sceneTimeout.apply(openQuiz, 0)).toBe(openQuiz);
    expect(sceneTimeout.apply(openQuiz, 60_000)).toBe(openQuiz);
    expect(sceneTimeout.apply(results, 61_000)).toBe(results);
    expect(sceneTimeout.apply(results, 65_999)).toBe(results);
    expect(sceneTimeout.apply(results, 66_000)).toEqual({ kind: 'title' });
  });

  test('hides results that were present at the start', () => {
    expect(new SceneTimeout(5_000).apply(results, 0)).toEqual({ kind: 'title' });
  });

  test('gives winners a hold time of their own', () => {
    const sceneTimeout = new SceneTimeout(5_000);
    sceneTimeout.apply(openQuiz, 0);
    sceneTimeout.apply(results, 1_000);
    const counting: Scene = { kind: 'winners', count: null, first: [] };
    const winners: Scene = { kind: 'winners', count: 2, first: [] };
    expect(sceneTimeout.apply(counting, 6_000)).toBe(counting);
    expect(sceneTimeout.apply(winners, 7_000)).toBe(winners);
    expect(sceneTimeout.apply(winners, 12_000)).toEqual({ kind: 'title' });
  });
});
