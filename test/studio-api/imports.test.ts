import { afterAll, beforeAll, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { type Account, type Harness, startService } from '../support/harness/harness.ts';

/** 64 KB that take as long to read as any file of the largest size. */
const LARGE = `question,choice 1,choice 2,answer\n${`${','.repeat(63)}\n`.repeat(990)}`;
const SMALL = 'question,choice 1,choice 2,answer\nWhich?,a,b,b\n';

let service: Harness;
let other: Account;
let streamId = '';
let otherStreamId = '';

beforeAll(async () => {
  service = await startService();
  other = await service.createAccount();
  streamId = await service.createStream();
  const created = await service.studio('POST', '/streams', { title: 'Other' }, other);
  otherStreamId = ((await created.json()) as { id: string }).id;
}, 30_000);
afterAll(() => service.close());

const preview = (text: string) =>
  service.studio('POST', `/streams/${streamId}/quizzes/import/preview`, {
    format: 'fourbeat-csv',
    text,
  });

test('[L-18] an import of another account does not wait for all imports of one', async () => {
  const finished: string[] = [];
  const many = Array.from({ length: 12 }, () => preview(LARGE).then(() => finished.push('many')));
  await Promise.race(many);
  const imported = await service.studio(
    'POST',
    `/streams/${otherStreamId}/quizzes/import`,
    { format: 'fourbeat-csv', text: SMALL },
    { ...other, headers: { 'Idempotency-Key': randomUUID() } },
  );
  finished.push('other');
  expect(imported.status).toBe(201);
  await Promise.all(many);
  expect(finished.indexOf('other')).toBeLessThan(6);
});

test('[L-18] too many imports at once return 429, and the others succeed', async () => {
  const responses = await Promise.all(Array.from({ length: 40 }, () => preview(SMALL)));
  const statuses = responses.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(statuses.filter((status) => status === 429).length).toBeLessThan(10);
  const refused = responses.find(({ status }) => status === 429);
  expect(refused?.headers.get('retry-after')).toBe('5');
}, 20_000);
