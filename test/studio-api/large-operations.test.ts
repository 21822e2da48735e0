import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { ExportSlices } from '../../server/auth/export-slices.ts';
import { LargeOperations } from '../../server/auth/large-operations.ts';
import {
  type Account,
  expectJson,
  type Harness,
  QUIZ,
  startService,
} from '../support/harness/harness.ts';

let service: Harness;
let other: Account;
let streamId = '';
let otherStreamId = '';
/** The moderation procedures that wrote. */
const writes: string[] = [];

beforeAll(async () => {
  service = await startService({
    store: (real) => ({
      ...real,
      pinMessage: (...call) => {
        writes.push('pinMessage');
        return real.pinMessage(...call);
      },
      queueQuestion: (...call) => {
        writes.push('queueQuestion');
        return real.queueQuestion(...call);
      },
    }),
  });
  other = await service.createAccount();
  streamId = await service.createStream();
  const created = await service.studio('POST', '/streams', { title: 'Other' }, other);
  otherStreamId = (await expectJson<{ id: string }>(created, 201)).id;
}, 30_000);
afterAll(() => service.close());

const send = (method: string, path: string, body?: object) =>
  service.studio(method as 'GET', `/streams/${streamId}${path}`, body);

test.each([
  ['GET', '/quizzes'],
  ['HEAD', '/quizzes'],
  ['POST', '/rundown'],
  ['GET', '/log'],
  ['GET', '/chat'],
  ['GET', '/audience'],
  ['GET', '/winners-rounds'],
  ['GET', '/restricted'],
  ['GET', '/chat/questions'],
  ['HEAD', '/report'],
  ['GET', '/exports/results'],
  ['HEAD', '/exports/quizzes'],
])('[L-19] %s %s is a large operation', async (method, path) => {
  const body = method === 'POST' ? { order: [] } : undefined;
  const run = spyOn(LargeOperations.prototype, 'run');
  // A report exists after the end of its stream.
  expect((await send(method, path, body)).status).toBe(path === '/report' ? 409 : 200);
  expect(run.mock.calls.map(([{ user }]) => user.uuid)).toEqual([service.account.uuid]);
  run.mockRestore();
});

test.each(['pinChatLine', 'queueQuestion'] as const)(
  '[L-19] the search of %s for its message is a large operation, and nothing is written when there is none',
  async (operation) => {
    const line = { id: randomUUID(), viewer: '', name: '', text: 'Hm?', kind: 'message', at: 0 };
    const run = spyOn(LargeOperations.prototype, 'run');
    writes.length = 0;
    const { status } = await (operation === 'pinChatLine'
      ? send('POST', '/chat/pin', { line })
      : send('POST', `/chat/questions/${line.id}`, { line, state: 'open' }));
    expect(status).toBe(404);
    expect(run.mock.calls.map(([{ user }]) => user.uuid)).toEqual([service.account.uuid]);
    expect(writes).toEqual([]);
    run.mockRestore();
  },
);

test.each(['answers', 'feed', 'quizzes'])(
  '[L-20] the export of %s takes its turn',
  async (kind) => {
    const open = spyOn(ExportSlices.prototype, 'open');
    expect((await send('GET', `/exports/${kind}`)).status).toBe(200);
    expect(open.mock.calls.map(([{ user }]) => user.uuid)).toEqual([service.account.uuid]);
    open.mockRestore();
  },
);

test('[L-19] long lists at once: those beyond 64 of its programs get 429, and one of another does not wait for them', async () => {
  const quizzes = Array.from({ length: 500 }, () => QUIZ);
  const text = JSON.stringify(quizzes);
  await send('POST', '/quizzes/import', { format: 'fourbeat-json', text });
  const finished: string[] = [];
  const many = Array.from({ length: 100 }, () =>
    send('GET', '/quizzes').then((response) => {
      if (response.status === 200) finished.push('many');
      return response;
    }),
  );
  await Promise.race(many);
  await service.studio('GET', `/streams/${otherStreamId}/quizzes`, undefined, other);
  finished.push('other');
  const responses = await Promise.all(many);
  expect(finished.indexOf('other')).toBeLessThan(32);
  const refused = responses.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(100 - (finished.length - 1));
  expect(refused[0]?.headers.get('retry-after')).toBe('5');
}, 30_000);
