import { beforeEach, describe, expect, test } from 'bun:test';
import { intervalAt } from '../../protocol/interval.ts';
import { FakeMachine } from '../../test/support/sdk/fake-environment.ts';
import { MockService, mockService } from './mock-service.ts';

// Behavior without faults is compared with the real service in test/sdk.

let machine: FakeMachine;
let mock: MockService;
beforeEach(() => {
  machine = new FakeMachine();
  mock = mockService({ now: () => machine.nowMs, after: machine.environment.after });
});

const URL_BASE = 'https://mock.example/api/v1';
const send = (path: string, init?: RequestInit) => mock.fetch(URL_BASE + path, init);

async function authorization(): Promise<HeadersInit> {
  const response = await send('/token', {
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
  const { body } = await send(path, { headers, ...init });
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  return reader;
}

describe('faults of the mock service', () => {
  test('a status with Retry-After, until the fault ends', async () => {
    const end = mock.fail({ result: 503, retryAfterSeconds: 2 });
    const refused = await send('/time');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    end();
    expect((await send('/time')).status).toBe(200);
  });

  test('for some requests only', async () => {
    mock.fail({ result: 429, matches: ({ path }) => path.endsWith('/time') });
    expect((await send('/time')).status).toBe(429);
    expect((await send(`/streams/${mock.streamId}/`)).status).toBe(200);
  });

  test('a connection that breaks', async () => {
    mock.fail({ result: 'cut' });
    expect(await send('/time').catch((error) => error)).toBeInstanceOf(TypeError);
  });

  test('no response, until the caller aborts', async () => {
    mock.fail({ result: 'silence' });
    const controller = new AbortController();
    const response = send('/time', { signal: controller.signal }).catch((error) => error);
    await machine.advance(60_000);
    controller.abort(new Error('too long'));
    expect((await response).message).toBe('too long');
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

  test('rejected tokens, until there is a new one', async () => {
    const path = `/view-counts/${mock.streamId}`;
    const old = await authorization();
    mock.rejectTokens();
    expect((await send(path, { headers: old })).status).toBe(401);
    expect((await send(path, { headers: await authorization() })).status).toBe(200);
  });
});

test('other viewers are counted', async () => {
  mock.setOtherViewers(1_234);
  const count = await send(`/view-counts/${mock.streamId}`, { headers: await authorization() });
  expect(await count.json()).toEqual({ value: 1_234, formatted: '1.2K' });
});

test('no timer remains when no viewer reads', async () => {
  await (await openStream()).cancel();
  expect(machine.pendingTimers).toBe(0);
  const controller = new AbortController();
  const reader = await openStream({ signal: controller.signal });
  controller.abort();
  expect((await reader.read().catch((error) => error)).name).toBe('AbortError');
  expect(machine.pendingTimers).toBe(0);
});

test('answers are listed by the viewer id of the app', async () => {
  const quiz = mock.openQuiz({ choices: ['yes', 'no'], answer: 'yes' });
  const headers = { ...(await authorization()), 'Content-Type': 'application/json' };
  const { streamId, closeInterval } = quiz;
  const body = JSON.stringify({ streamId, closeInterval, choice: 'no' });
  await send(`/quizzes/${quiz.id}/answer`, { method: 'POST', headers, body });
  expect([...mock.answersTo(quiz.id)]).toEqual([['ada', 'no']]);
});

test('the README documents every method', async () => {
  const readme = await Bun.file(new URL('README.md', import.meta.url)).text();
  const methods = Object.getOwnPropertyNames(MockService.prototype);
  const names = [...methods, ...Object.keys(mock)].filter((name) => name !== 'constructor');
  expect(names).toContain('endStreams');
  expect(names.filter((name) => !new RegExp(`\`(?:service\\.)?${name}\\b`).test(readme))).toEqual(
    [],
  );
});
