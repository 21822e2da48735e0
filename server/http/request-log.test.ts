import { expect, test } from 'bun:test';
import { viewerApi } from '../../protocol/viewer-api.ts';
import { Unavailable } from '../platform/errors.ts';
import { createLogger } from '../platform/logging.ts';
import { RequestLog, ResponseCounter } from './request-log.ts';

test('[O-12] responses are counted beyond 2^32, which a busy day reaches', () => {
  const counter = new ResponseCounter(viewerApi.registerView);
  counter.counts[204] = 2 ** 32 - 1;
  counter.count(204, 0);
  expect(counter.counts[204]).toBe(2 ** 32);
});

test('[O-13] many 503 responses are logged as one line a second for each operation, with their count', () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  let nowMs = 5_000;
  const log = new RequestLog(logger, 'p', () => nowMs);
  const refuse = (operation: (typeof viewerApi)['answerQuiz'] | (typeof viewerApi)['postChat']) =>
    log.logRejected(
      operation,
      log.requestId(new Request('http://x/')),
      503,
      new Unavailable('stuck'),
    );
  for (let n = 0; n < 1_000; n++) refuse(viewerApi.answerQuiz);
  refuse(viewerApi.postChat);
  nowMs += 999;
  refuse(viewerApi.answerQuiz);
  nowMs += 1;
  refuse(viewerApi.answerQuiz);
  nowMs += 1_000;
  log.logRejected(viewerApi.answerQuiz, 'elsewhere', 503, new Unavailable('stuck'), 7);
  const { path } = viewerApi.answerQuiz;
  const warned = { level: 'warn', status: 503, reason: 'stuck' };
  expect(lines).toMatchObject([
    { ...warned, path, count: 1, requestId: 'p-0' },
    { ...warned, path: viewerApi.postChat.path, count: 1 },
    { ...warned, path, count: 1_001 },
    { ...warned, path, count: 7, requestId: 'elsewhere' },
  ]);
});

const newCounter = () => new ResponseCounter(viewerApi.registerView);

test('[O-12] counts of another counter are merged once', () => {
  const [main, other] = [newCounter(), newCounter()];
  main.countImmediate(204);
  for (const status of [204, 204, 200]) other.countImmediate(status);
  other.count(200, performance.now() - 2_000);
  main.merge(structuredClone(other.take()));
  main.merge(other.take());
  expect([main.counts[204], main.counts[200], other.counts[204]]).toEqual([3, 2, 0]);
  expect(main.durations.counts.reduce((sum, count) => sum + count, 0)).toBe(5);
  expect(main.durations.sum).toBeGreaterThanOrEqual(2);
});
