import { expect, test } from 'bun:test';
import { viewerApi } from '../../protocol/viewer-api.ts';
import { AnswerCounter } from './request-log.ts';

test('[O-12] answers are counted beyond 2^32, which a busy day reaches', () => {
  const counter = new AnswerCounter(viewerApi.registerView);
  counter.counts[204] = 2 ** 32 - 1;
  counter.count(204, 0);
  expect(counter.counts[204]).toBe(2 ** 32);
});
