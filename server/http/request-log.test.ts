import { expect, test } from 'bun:test';
import { viewerApi } from '../../protocol/viewer-api.ts';
import { Unavailable } from '../platform/errors.ts';
import { createLogger } from '../platform/logging.ts';
import { RequestLog } from './request-log.ts';

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
