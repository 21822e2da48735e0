import { beforeEach, describe, expect, test } from 'bun:test';
import { intervalAt } from '../../protocol/interval.ts';
import { FakeMachine } from '../../test/support/sdk/fake-environment.ts';
import { MockService, mockService } from './mock-service.ts';

// What it does without faults is held against the service itself, in test/sdk.

let machine: FakeMachine;
let mock: MockService;
beforeEach(() => {
  machine = new FakeMachine();
  mock = mockService({ now: () => machine.nowMs, after: machine.environment.after });
});

const URL_BASE = 'https://mock.example/api/v1';
const get = (path: string, init?: RequestInit) => mock.fetch(URL_BASE + path, init);

async function authorization(): Promise<HeadersInit> {
  const response = await get('/token', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ stream_id: mock.streamId, unique_user_identifier: 'ada' }),
  });
  return { Authorization: `Bearer ${(await response.json()).token}` };
}

async function openStream(init: RequestInit = {}) {
  const headers = { ...(await authorization()), Accept: 'text/event-stream' };
  const now = intervalAt(machine.nowMs);
  const path = `/events-streams/${mock.streamId}?interval=${now}`;
  const { body } = await get(path, { headers, ...init });
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  return reader;
}

describe('what can be made to go wrong', () => {
  test('a status, with a wish, until it is ended', async () => {
    const end = mock.fail({ result: 503, retryAfterSeconds: 2 });
    const refused = await get('/time');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    end();
    expect((await get('/time')).status).toBe(200);
  });

  test('some requests alone', async () => {
    mock.fail({ result: 429, matches: ({ path }) => path.endsWith('/time') });
    expect((await get('/time')).status).toBe(429);
    expect((await get(`/streams/${mock.streamId}/`)).status).toBe(200);
  });

  test('a connection that breaks', async () => {
    mock.fail({ result: 'cut' });
    expect(await get('/time').catch((error) => error)).toBeInstanceOf(TypeError);
  });

  test('no answer, until the caller gives up', async () => {
    mock.fail({ result: 'silence' });
    const giveUp = new AbortController();
    const asked = get('/time', { signal: giveUp.signal }).catch((error) => error);
    await machine.advance(60_000);
    giveUp.abort(new Error('too long'));
    expect((await asked).message).toBe('too long');
  });

  test('event streams that break', async () => {
    const reader = await openStream();
    mock.breakStreams();
    expect(await reader.read().catch((error) => error)).toBeInstanceOf(TypeError);
  });

  test('[F-25] event streams that end', async () => {
    const reader = await openStream();
    mock.endStreams();
    expect((await reader.read()).done).toBe(true);
  });

  test('tokens that are refused, until there is a new one', async () => {
    const path = `/view-counts/${mock.streamId}`;
    const old = await authorization();
    mock.rejectTokens();
    expect((await get(path, { headers: old })).status).toBe(401);
    expect((await get(path, { headers: await authorization() })).status).toBe(200);
  });
});

test('others are counted', async () => {
  mock.setOtherViewers(1_234);
  const count = await get(`/view-counts/${mock.streamId}`, { headers: await authorization() });
  expect(await count.json()).toEqual({ value: 1_234, formatted: '1.2K' });
});

test('no timer is left behind when nobody reads', async () => {
  await (await openStream()).cancel();
  expect(machine.pendingTimers).toBe(0);
  const giveUp = new AbortController();
  const reader = await openStream({ signal: giveUp.signal });
  giveUp.abort();
  expect((await reader.read().catch((error) => error)).name).toBe('AbortError');
  expect(machine.pendingTimers).toBe(0);
});

test('a viewer who answered is known by the name that the app gave', async () => {
  const quiz = mock.openQuiz({ choices: ['yes', 'no'], answer: 'yes' });
  const headers = { ...(await authorization()), 'Content-Type': 'application/json' };
  const { streamId, closeInterval } = quiz;
  const body = JSON.stringify({ streamId, closeInterval, choice: 'no' });
  await get(`/quizzes/${quiz.id}/answer`, { method: 'POST', headers, body });
  expect([...mock.answersTo(quiz.id)]).toEqual([['ada', 'no']]);
});

test('the README has all that a test can call', async () => {
  const readme = await Bun.file(new URL('README.md', import.meta.url)).text();
  const methods = Object.getOwnPropertyNames(MockService.prototype);
  const names = [...methods, ...Object.keys(mock)].filter((name) => name !== 'constructor');
  expect(names).toContain('endStreams');
  expect(names.filter((name) => !new RegExp(`\`(?:service\\.)?${name}\\b`).test(readme))).toEqual(
    [],
  );
});
