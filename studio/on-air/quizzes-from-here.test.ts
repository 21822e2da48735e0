import { expect, test } from 'bun:test';
import { quizzesFromHere } from './quizzes-from-here.ts';

const quizOf = (id: string, state: 'draft' | 'open' | 'revealed') => ({ id, state });

test('the rundown on air begins with the quiz on screen and goes on with the drafts', () => {
  const quizzes = [quizOf('1', 'revealed'), quizOf('2', 'draft'), quizOf('3', 'open')];
  const more = [...quizzes, quizOf('4', 'draft')];
  const ids = (onScreen: string | null) =>
    quizzesFromHere(more, onScreen === null ? null : quizOf(onScreen, 'open')).map(({ id }) => id);
  expect(ids(null)).toEqual(['2', '4']);
  expect(ids('3')).toEqual(['3', '2', '4']);
});

test('a quiz that was just sent is on screen once, while the rundown still has it as a draft', () => {
  const quizzes = [quizOf('1', 'draft'), quizOf('2', 'draft')];
  expect(quizzesFromHere(quizzes, quizOf('1', 'open')).map(({ id }) => id)).toEqual(['1', '2']);
});
