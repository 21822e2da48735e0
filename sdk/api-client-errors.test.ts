import { describe, expect, test } from 'bun:test';
import {
  createApiClientFixture,
  describeRequest,
  QUIZ,
  type Responder,
  rejectionOf,
  respondNever,
  respondNoContent,
  respondWith,
  URLS,
} from '../test/support/sdk/api-client-fixture.ts';
import { FakeMachine } from '../test/support/sdk/fake-environment.ts';
import { ApiClient } from './api-client.ts';
import { FourbeatError } from './errors.ts';

describe('a failed request throws FourbeatError', () => {
  test('a status of an error as its kind, with the service’s message', async () => {
    const { api } = createApiClientFixture(
      respondWith(429, { detail: 'Because.' }, { 'Retry-After': '3' }),
    );
    const error = await rejectionOf(api.sendHeartbeat());
    expect(error).toBeInstanceOf(FourbeatError);
    const expected = { kind: 'busy', status: 429, message: 'Because.', retryAfterMs: 3_000 };
    expect(error).toMatchObject(expected);
  });

  test('a network failure as `unavailable`', async () => {
    const { api } = createApiClientFixture(() => Promise.reject(new TypeError('no route')));
    expect(await rejectionOf(api.time())).toMatchObject({
      kind: 'unavailable',
      status: null,
      retryAfterMs: null,
    });
  });

  test('the page of a captive portal as `unavailable`', async () => {
    const { api } = createApiClientFixture(() => new Response('<html>Log in to our Wi-Fi</html>'));
    expect((await rejectionOf(api.interval(5))).kind).toBe('unavailable');
    const other = createApiClientFixture(respondWith(200, { hello: 'there' }));
    expect((await rejectionOf(other.api.time())).kind).toBe('unavailable');
    expect((await rejectionOf(api.answer(QUIZ, 'Venus'))).kind).toBe('unavailable');
  });

  test('no response in 5 s as `unavailable`, and aborts the request', async () => {
    const { machine, api, requests } = createApiClientFixture(respondNever);
    const failing = rejectionOf(api.sendHeartbeat());
    await machine.advance(4_999);
    expect(requests[0]?.signal.aborted).toBe(false);
    await machine.advance(1);
    expect(await failing).toMatchObject({ kind: 'unavailable', status: null });
    expect(requests[0]?.signal.aborted).toBe(true);
  });

  test('an incomplete body as `unavailable` after 5 s', async () => {
    const { machine, api } = createApiClientFixture(({ signal }) => {
      const body = new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode('{"interval":'));
          signal.addEventListener('abort', () => controller.error(signal.reason));
        },
      });
      return new Response(body);
    });
    const failing = rejectionOf(api.interval(5));
    await machine.advance(5_000);
    expect((await failing).kind).toBe('unavailable');
  });

  test('and leaves no timer, nor does a success', async () => {
    const { machine, api } = createApiClientFixture(respondWith(503));
    await rejectionOf(api.sendHeartbeat());
    expect(machine.pendingTimers).toBe(0);
    const other = createApiClientFixture(respondNoContent);
    await other.api.sendHeartbeat();
    expect(other.machine.pendingTimers).toBe(0);
  });
});

describe('[T-12] a rejected token', () => {
  const rejectTokensUpTo =
    (lastRejected: number): Responder =>
    (request) => {
      const number = Number(request.headers.get('authorization')?.split(' ')[2]);
      return number > lastRejected
        ? new Response(null, { status: 204 })
        : Response.json({}, { status: 401 });
    };

  test('is discarded, and the request resent with a new token', async () => {
    const { api, requests, rejectedTokens } = createApiClientFixture(rejectTokensUpTo(1));
    await api.answer(QUIZ, 'Venus');
    expect(rejectedTokens).toEqual(['token 1']);
    const [first, second] = await Promise.all(requests.map(describeRequest));
    expect(second).toEqual({ ...first, token: 'Bearer token 2' } as typeof second);
  });

  test('is `denied` when the new token is rejected too, and the request is not sent again', async () => {
    const { api, requests, rejectedTokens } = createApiClientFixture(rejectTokensUpTo(2));
    expect(await rejectionOf(api.recordWinner(true))).toMatchObject({
      kind: 'denied',
      status: 401,
    });
    expect(requests).toHaveLength(2);
    expect(rejectedTokens).toEqual(['token 1']);
  });

  test('[V-4] does not resend a heartbeat: the next one has a new token', async () => {
    const { api, requests, rejectedTokens, tokensIssued } = createApiClientFixture(
      rejectTokensUpTo(1),
    );
    let sent = 0;
    const heartbeat = () => api.sendHeartbeat(() => sent++);
    expect((await rejectionOf(heartbeat())).kind).toBe('denied');
    expect([rejectedTokens, requests.length, sent]).toEqual([['token 1'], 1, 1]);
    // The new token is requested now, so that the next heartbeat need not wait.
    expect(tokensIssued()).toBe(2);
    await heartbeat();
    expect([requests.length, sent]).toEqual([2, 2]);
  });

  test('[W-8] is kept when the 401 may mean that the viewer has not won', async () => {
    const { api, requests, rejectedTokens } = createApiClientFixture(respondWith(401));
    expect((await rejectionOf(api.recordWinner(false))).kind).toBe('denied');
    expect([requests.length, rejectedTokens]).toEqual([1, []]);
  });

  test('is not assumed when a request without a token gets 401', async () => {
    const { api, requests, rejectedTokens } = createApiClientFixture(respondWith(401));
    expect((await rejectionOf(api.newToken('somebody'))).kind).toBe('denied');
    expect(requests).toHaveLength(1);
    expect(rejectedTokens).toEqual([]);
  });

  test('throws the error of the token request when there is no new token', async () => {
    const machine = new FakeMachine({ fetch: async () => Response.json({}, { status: 401 }) });
    const tokenError = new FourbeatError('busy', 'too many', 429, 1_000);
    let hasToken = true;
    const token = {
      get: () => (hasToken ? Promise.resolve('token') : Promise.reject(tokenError)),
      reject: () => {
        hasToken = false;
      },
    };
    const api = new ApiClient(machine.environment, URLS, 'stream', token);
    expect(await rejectionOf(api.recordWinner(true))).toBe(tokenError);
  });
});
