import { describe, expect, test } from 'bun:test';
import { Unavailable } from '../../server/platform/errors.ts';
import { expectMembers, expectProblem } from '../support/conformance/expectations.ts';
import {
  HIGH_RATES,
  OPERATION_NAMES,
  OPERATIONS,
  send,
  validRequest,
} from '../support/conformance/operations.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { requestToken } from '../support/conformance/viewer-routes.ts';
import { expectJson, START_MS, startService } from '../support/harness/harness.ts';

const harness = await serviceOfFile();
// By default token creation ignores the credential (T-16).
const closed = await serviceOfFile({ config: { rates: HIGH_RATES, tokenAuth: 'producer' } });

describe('unknown paths, members and parameters', () => {
  test.each(['/', '/nowhere', '/api/v1/', '/api/v1/streams/a/b', '/api/v1/time/x', '/studio/v1'])(
    '[G-12] [G-2] [G-3] unknown path %s returns 404 with every error header',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const response = await fetch(harness.url + path, { method });
        await expectProblem(response, 404);
        expect(response.headers.get('allow')).toBe('OPTIONS');
      }
    },
  );

  test('[G-7] unknown members and parameters are ignored in /api/v1', async () => {
    for (const name of ['createToken', 'answerQuiz', 'postChat'] as const) {
      const request = await validRequest(harness, name);
      const body = { ...request.body, extra: 1, more: { of: ['it'] }, constructor: null };
      const response = await send(harness, { ...request, path: `${request.path}?x=1&x=2`, body });
      expect([name, response.status]).toEqual([name, name === 'createToken' ? 200 : 204]);
    }
    for (const name of ['listStreams', 'readInterval', 'readMe'] as const) {
      const request = await validRequest(harness, name);
      const path = `${request.path}${request.path.includes('?') ? '&' : '?'}x=1&x=2&=&__proto__=3`;
      expect((await send(harness, { ...request, path })).status).toBe(200);
    }
  });
});

describe('errors', () => {
  test('[G-13] [G-14] an error is problem+json when Accept names it, else JSON with the same bytes', async () => {
    const bodies: string[] = [];
    for (const [accept, type] of [
      ['application/json', 'application/json'],
      ['*/*', 'application/json'],
      ['text/html, application/problem+json;q=0.9', 'application/problem+json'],
      ['application/problem+json', 'application/problem+json'],
    ] as const) {
      for (const path of ['/nowhere', '/api/v1/users/me', '/api/v1/token', '/studio/v1/account']) {
        const response = await fetch(harness.url + path, { headers: { Accept: accept } });
        expect(response.headers.get('content-type')).toBe(type);
        bodies.push(await response.text());
      }
    }
    expect(bodies.slice(4)).toEqual([...bodies, ...bodies, ...bodies].slice(0, 12));
    for (const body of bodies)
      expectMembers(JSON.parse(body), ['type', 'title', 'status', 'detail']);
  });

  test('[G-15] an Accept header without a supported type gets JSON instead of 406', async () => {
    for (const accept of ['text/html', 'image/png', 'application/xml;q=1', 'nonsense', '']) {
      const response = await fetch(`${harness.url}/api/v1/time`, { headers: { Accept: accept } });
      expect(response.headers.get('content-type')).toBe('application/json');
      expectMembers(await expectJson(response, 200), ['now', 'interval']);
      await expectProblem(
        await fetch(`${harness.url}/api/v1/users/me`, { headers: { Accept: accept } }),
        401,
      );
    }
  });

  test.each(OPERATION_NAMES.filter((name) => OPERATIONS[name].access !== 'public'))(
    '[G-16] %s with a wrong credential returns 401 and names the right scheme',
    async (name) => {
      const request = await validRequest(closed, name);
      const wrong = { ...request.headers, Authorization: 'Bearer wrong' };
      const response = await send(closed, { ...request, headers: wrong });
      await expectProblem(response, 401);
      const scheme = OPERATIONS[name].access === 'viewer' ? 'Bearer' : 'Token';
      expect(response.headers.get('www-authenticate')).toBe(scheme);
    },
  );

  test('[G-27] a 503 has Retry-After in whole seconds and every error header', async () => {
    await using broken = await startService({
      store: (store) => ({
        ...store,
        findStream: () => Promise.reject(new Unavailable('The disk is full.')),
        findSeats: () => Promise.reject(new Unavailable('The disk is full.', 7)),
      }),
    });
    const id = crypto.randomUUID();
    const read = await fetch(`${broken.url}/api/v1/streams/${id}/`);
    await expectProblem(read, 503);
    expect(read.headers.get('retry-after')).toBe('1');
    const token = await requestToken(broken.url, { stream_id: id, unique_user_identifier: 'a' });
    await expectProblem(token, 503);
    expect(token.headers.get('retry-after')).toBe('7');
  });

  test('[G-28] a defect returns 500 without details of its cause', async () => {
    await using broken = await startService({
      store: (store) => ({
        ...store,
        findStream: () => Promise.reject(new Error('secret')),
      }),
    });
    const url = `${broken.url}/api/v1/streams/${crypto.randomUUID()}/`;
    const { detail } = await expectProblem(await fetch(url), 500);
    expect(detail).not.toContain('secret');
  });
});

describe('times and request ids', () => {
  test('[G-29] times in JSON are integers of Unix milliseconds', async () => {
    const stream = await harness.createStream();
    await harness.studio('POST', `/streams/${stream}/start`);
    const ended = await expectJson<Record<string, unknown>>(
      await harness.studio('POST', `/streams/${stream}/end`),
      200,
    );
    const account = await expectJson<Record<string, unknown>>(
      await harness.studio('GET', '/account'),
      200,
    );
    const times = [ended.created, ended.started, ended.ended, account.created];
    const { created } = await harness.publishQuiz(await harness.createStream());
    for (const time of [...times, created]) {
      expect(Number.isInteger(time)).toBe(true);
      expect(time as number).toBeWithin(START_MS, harness.clock.nowMs() + 1);
    }
  });

  test('[G-30] an error has a request id, the one of the request if it sent one', async () => {
    const url = `${harness.url}/api/v1/users/me`;
    const ids = new Set<string | null>();
    for (let i = 0; i < 5; i++) ids.add((await fetch(url)).headers.get('x-request-id'));
    expect(ids.size).toBe(5);
    for (const path of ['/api/v1/users/me', '/nowhere', '/api/v1/token', '/studio/v1/streams']) {
      for (const id of ['a', 'Req-1_2.3', 'x'.repeat(64)]) {
        const response = await fetch(harness.url + path, { headers: { 'X-Request-Id': id } });
        expect(response.headers.get('x-request-id')).toBe(id);
      }
      for (const id of ['', 'a b', 'x'.repeat(65), 'a"b', 'a/b', 'ü']) {
        const other = await fetch(harness.url + path, { headers: { 'X-Request-Id': id } });
        expect(other.headers.get('x-request-id')).not.toBe(id);
        expect(other.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
      }
    }
  });

  const STUDIO = OPERATION_NAMES.filter((name) => OPERATIONS[name].role === 'studio');
  test.each(STUDIO)(
    '[G-30] a success of %s returns the request id of the request',
    async (name) => {
      const request = await validRequest(harness, name);
      const headers = { ...request.headers, 'X-Request-Id': 'show-7' };
      const response = await send(harness, { ...request, headers });
      expect(response.ok).toBe(true);
      expect(response.headers.get('x-request-id')).toBe('show-7');
    },
  );
});
