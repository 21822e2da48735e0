import { expect, test } from 'bun:test';
import { answerTimeBars, answerTimesLabel } from './answer-times.ts';

const HISTOGRAM = { binMs: 500, counts: [0, 3, 9, 9, 1] };

test('answerTimeBars returns the start of each bar in seconds', () => {
  expect(answerTimeBars(HISTOGRAM)).toEqual([
    [0, 0.5, 1, 1.5, 2],
    [0, 3, 9, 9, 1],
  ]);
});

test('answerTimesLabel names the highest bar', () => {
  expect(answerTimesLabel(HISTOGRAM)).toBe('Most answers came between 1.0\u00a0s and 1.5\u00a0s');
});
