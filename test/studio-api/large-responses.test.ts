import { expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { LARGE_RESPONSES_BYTES_MAX } from '../../server/auth/large-responses.ts';
import { expectJson, type Harness, QUIZ, startService } from '../support/harness/harness.ts';
import { newMember } from '../support/studio/user-agent.ts';
import { until } from '../support/until.ts';

const QUIZZES = 2_000;
const DRAFTS_PER_IMPORT = 100;

/** Adds quizzes with the longest texts that a quiz may have. */
async function addLongQuizzes({ account, store }: Harness, streamId: string): Promise<void> {
  const choices = Array.from({ length: 10 }, (_, n) => `${n}`.padEnd(200, '答'));
  const quiz = { question: '問'.repeat(500), choices, answer: choices[0] as string };
  const drafts = () =>
    Array.from({ length: DRAFTS_PER_IMPORT }, () => ({
      id: randomUUID(),
      quiz: { ...quiz, duration: 10_000, reveal: 'auto' as const },
    }));
  for (let n = 0; n < QUIZZES; n += DRAFTS_PER_IMPORT) {
    await store.importQuizzes({ streamId, producer: account.uuid, drafts: drafts() });
  }
}

/**
 * Sends a request and reads only the start of its response.
 * @param credential a header line; by default that of the account
 */
async function requestUnread({ url, account }: Harness, path: string, credential?: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
  const authorization = credential ?? `Authorization: Token ${account.token}`;
  socket.write(`GET /studio/v1${path} HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`);
  await new Promise((resolve) => socket.once('readable', resolve));
  const [, status] = socket.read(16).toString().split(' ');
  return { status: Number(status), close: () => void socket.destroy() };
}

/** How many of a response that is not ASCII exceed what a member may leave unread. */
async function responsesOfMember(service: Harness, path: string): Promise<number> {
  const list = await (await service.studio('GET', path)).text();
  return Math.ceil(LARGE_RESPONSES_BYTES_MAX / (2 * list.length));
}

test('[L-17] while 64 MB of large responses wait for their reader its requests get 429, and those of others none', async () => {
  await using service = await startService();
  const streamId = await service.createStream();
  await addLongQuizzes(service, streamId);
  const path = `/streams/${streamId}/quizzes`;
  const status = async (token?: string) =>
    (await service.studio('GET', '/streams', undefined, token ? { token } : {})).status;
  const unread = await responsesOfMember(service, path);
  expect(await status()).toBe(200);
  // Sent at once, so that all wait for their turn while nothing is unread.
  const requests = Array.from({ length: 2 * unread }, () => requestUnread(service, path));
  const responses = await Promise.all(requests);
  const begun = responses.filter((response) => response.status === 200);
  expect([unread, unread + 1]).toContain(begun.length);
  expect(responses.filter((response) => response.status === 429)).toHaveLength(
    responses.length - begun.length,
  );
  expect(await status()).toBe(429);
  expect(await status((await service.createAccount()).token)).toBe(200);
  for (const { close } of responses) close();
  await until('the account is served again', async () => (await status()) === 200);
  const { results } = await expectJson<{ results: { question: string }[] }>(
    await service.studio('GET', path),
    200,
  );
  expect(new Set(results.map(({ question }) => question))).toEqual(new Set(['問'.repeat(500)]));
  expect(results).toHaveLength(QUIZZES);
}, 30_000);

test('[L-17] while 128 MB of large responses wait for the readers of an account, others of its members can host a show', async () => {
  await using service = await startService();
  const streamId = await service.createStream();
  await addLongQuizzes(service, streamId);
  const stream = `/streams/${streamId}`;
  const [slow, host] = [await newMember(service, 'host'), await newMember(service, 'host')];
  const unread = await responsesOfMember(service, `${stream}/quizzes`);
  const responses = [];
  for (const credential of [undefined, `Cookie: ${slow.browser.cookie}`]) {
    for (let n = 0; n < unread; n++) {
      responses.push(await requestUnread(service, `${stream}/quizzes`, credential));
    }
  }
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));

  const status = async (method: string, path: string, body?: object) =>
    (await host.browser.send(method, path, body)).status;
  const file = { format: 'fourbeat-json', text: JSON.stringify([QUIZ]) };
  const line = { id: randomUUID(), viewer: '', name: '', text: 'Hm?', kind: 'message', at: 0 };
  const preview = () => status('POST', `${stream}/quizzes/import/preview`, file);
  for (const path of [`${stream}/quizzes`, '/streams', `${stream}/exports/quizzes`]) {
    expect([path, await status('GET', path)]).toEqual([path, 429]);
  }
  expect(await preview()).toBe(429);
  expect(await status('GET', stream)).toBe(200);
  expect(await status('PATCH', stream, { title: 'Another' })).toBe(200);
  // There is no such message; it was searched for.
  expect(await status('POST', `${stream}/chat/pin`, { line })).toBe(404);
  const { token } = await service.createAccount();
  expect((await service.studio('GET', '/streams', undefined, { token })).status).toBe(200);
  for (const { close } of responses) close();
  await until('imports are read again', async () => (await preview()) === 200);
}, 30_000);
