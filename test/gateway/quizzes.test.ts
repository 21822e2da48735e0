import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Unavailable } from '../../server/platform/errors.ts';
import { type Harness, startService } from '../support/harness/harness.ts';

// The fast paths for answers and winner reports must respond as the origin server does. No fast path takes
// this header, which has no other effect.
const TO_ORIGIN = { 'If-None-Match': '"any"' };

let service: Harness;
let isDiskFull = false;

beforeAll(async () => {
  service = await startService({
    store: (store) => ({
      ...store,
      recordAnswers: (answers) =>
        isDiskFull
          ? Promise.reject(new Unavailable('The disk is full.'))
          : store.recordAnswers(answers),
    }),
  });
});
afterAll(() => service.close());

/** A response without its date and request id. */
async function comparable(response: Response): Promise<unknown> {
  const headers = Object.fromEntries(response.headers);
  expect(headers.date).toMatch(/ GMT$/);
  if (headers['x-request-id']) headers['x-request-id'] = 'an id';
  return {
    status: response.status,
    headers: { ...headers, date: '' },
    body: await response.text(),
  };
}

test('[Q-7] [Q-14] [R-15] [W-8] [W-9] the gateway responds to answers and winner reports as the origin server does', async () => {
  const streamId = await service.createStream();
  const quiz = await service.publishQuiz(streamId);
  const viewer = await service.viewer(streamId);
  const path = `/api/v1/quizzes/${quiz.id}/answer`;
  const body = { streamId, choice: 'Venus', closeInterval: quiz.closeInterval };
  /** Sends the request to the gateway's fast path and to the origin server. */
  const expectEqual = async (status: number, target: string, sent?: unknown) => {
    for (const headers of [{}, { Accept: 'application/problem+json' }]) {
      const fastPath = await comparable(await viewer.post(target, sent, headers));
      expect(fastPath).toMatchObject({ status });
      expect(fastPath).toEqual(
        await comparable(await viewer.post(target, sent, { ...headers, ...TO_ORIGIN })),
      );
    }
  };
  await expectEqual(204, path, body);
  await expectEqual(409, path, { ...body, choice: 'Mars' });
  await expectEqual(400, path, { ...body, choice: 'Pluto' });
  isDiskFull = true;
  await expectEqual(503, path, body);
  isDiskFull = false;
  const report = `/api/v1/quizzes/${streamId}/record-winner`;
  await expectEqual(409, report);
  await service.advance(20);
  expect((await service.studio('POST', `/streams/${streamId}/request-winners`)).status).toBe(201);
  await expectEqual(401, report);
  await service.advance(20);
  await expectEqual(409, path, { ...body, choice: 'Mars' });
});

test('[L-6] answers through the gateway and the origin server share one rate limit', async () => {
  const streamId = await service.createStream();
  const quiz = await service.publishQuiz(streamId);
  const viewer = await service.viewer(streamId, 'frequent viewer');
  const path = `/api/v1/quizzes/${quiz.id}/answer`;
  const body = { streamId, choice: 'Venus', closeInterval: quiz.closeInterval };
  const statuses: number[] = [];
  for (let n = 0; n < 32; n++) {
    statuses.push((await viewer.post(path, body, n % 2 === 0 ? {} : TO_ORIGIN)).status);
  }
  expect(statuses).toEqual([...Array(30).fill(204), 429, 429]);
});
