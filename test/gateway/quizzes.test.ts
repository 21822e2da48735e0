import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Unavailable } from '../../server/platform/errors.ts';
import { type Harness, startService } from '../support/harness/harness.ts';

// What a front takes by itself must be told as the origin server tells it. This header, which means
// nothing here, is for the origin server.
const TO_INNER = { 'If-None-Match': '"any"' };

let service: Harness;
let isFull = false;

beforeAll(async () => {
  service = await startService({
    store: (store) => ({
      ...store,
      recordAnswers: (answers) =>
        isFull
          ? Promise.reject(new Unavailable('The disk is full.'))
          : store.recordAnswers(answers),
    }),
  });
});
afterAll(() => service.close());

/** All of an answer but for what is its own: its time and its id. */
async function told(response: Response): Promise<unknown> {
  const headers = Object.fromEntries(response.headers);
  expect(headers.date).toMatch(/ GMT$/);
  if (headers['x-request-id']) headers['x-request-id'] = 'an id';
  return {
    status: response.status,
    headers: { ...headers, date: '' },
    body: await response.text(),
  };
}

test('[Q-7] [Q-14] [R-15] [W-8] [W-9] answers and reports are told alike by the front and the origin server', async () => {
  const streamId = await service.createStream();
  const quiz = await service.publishQuiz(streamId);
  const viewer = await service.viewer(streamId);
  const path = `/api/v1/quizzes/${quiz.id}/answer`;
  const body = { streamId, choice: 'Venus', closeInterval: quiz.closeInterval };
  const expectAlike = async (status: number, at: string, sent?: unknown) => {
    for (const headers of [{}, { Accept: 'application/problem+json' }]) {
      const own = await told(await viewer.post(at, sent, headers));
      expect(own).toMatchObject({ status });
      expect(own).toEqual(await told(await viewer.post(at, sent, { ...headers, ...TO_INNER })));
    }
  };
  await expectAlike(204, path, body);
  await expectAlike(409, path, { ...body, choice: 'Mars' });
  await expectAlike(400, path, { ...body, choice: 'Pluto' });
  isFull = true;
  await expectAlike(503, path, body);
  isFull = false;
  const report = `/api/v1/quizzes/${streamId}/record-winner`;
  await expectAlike(409, report);
  await service.advance(20);
  expect((await service.studio('POST', `/streams/${streamId}/request-winners`)).status).toBe(201);
  await expectAlike(401, report);
  await service.advance(20);
  await expectAlike(409, path, { ...body, choice: 'Mars' });
});

test('[L-6] what the front takes uses the same share as what the origin server does', async () => {
  const streamId = await service.createStream();
  const quiz = await service.publishQuiz(streamId);
  const viewer = await service.viewer(streamId, 'who asks too often');
  const path = `/api/v1/quizzes/${quiz.id}/answer`;
  const body = { streamId, choice: 'Venus', closeInterval: quiz.closeInterval };
  const statuses: number[] = [];
  for (let n = 0; n < 32; n++) {
    statuses.push((await viewer.post(path, body, n % 2 === 0 ? {} : TO_INNER)).status);
  }
  expect(statuses).toEqual([...Array(30).fill(204), 429, 429]);
});
