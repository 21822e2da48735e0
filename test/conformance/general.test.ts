import { describe, expect, test } from 'bun:test';
import { viewerApi } from '../../protocol/viewer-api.ts';
import {
  expectBaseHeaders,
  expectNoContent,
  expectProblem,
  methodsIn,
} from '../support/conformance/expectations.ts';
import {
  OPERATION_NAMES,
  OPERATIONS,
  send,
  validRequest,
} from '../support/conformance/operations.ts';
import { rawExchange, rawHead } from '../support/conformance/raw-http.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { startService } from '../support/harness/harness.ts';

const harness = await serviceOfFile();

/** The routes of the interface document with the methods of each path. */
const INTERFACE: readonly (readonly [path: string, methods: string])[] = [
  ['/api/v1/users/me', 'GET, HEAD, OPTIONS'],
  ['/api/v1/streams/', 'GET, HEAD, OPTIONS'],
  ['/api/v1/streams/:id/', 'GET, HEAD, OPTIONS'],
  ['/api/v1/token', 'OPTIONS, POST'],
  ['/api/v1/view-counts/:id', 'GET, HEAD, OPTIONS, POST'],
  ['/api/v1/quizzes/:id/answer', 'OPTIONS, POST'],
  ['/api/v1/quizzes/:id/record-winner', 'OPTIONS, POST'],
  ['/api/v1/events-streams/:id', 'GET, HEAD, OPTIONS'],
];
/** Paths of all operations, with an unknown id where they take one. */
const PATHS = [...new Set(OPERATION_NAMES.map((name) => OPERATIONS[name].path))].map((path) =>
  path.replace(/\{\w+\}/g, crypto.randomUUID()),
);
const OWN_CACHE_CONTROL: Partial<Record<keyof typeof OPERATIONS, string>> = {
  listStreams: 'public, no-cache',
  readJwks: 'public, max-age=300',
  readInterval: 'private, max-age=31536000, immutable',
};
const STREAMED = [
  'exportAnswers',
  'exportWinners',
  'exportContacts',
  'exportFeed',
  'exportAudience',
  'exportChat',
  'exportResults',
  'exportQuizzes',
  'watchShow',
  'presentShow',
];

describe('routes', () => {
  test('[G-1] every route of the interface lives under /api/v1/, and exists', async () => {
    for (const { path } of Object.values(viewerApi)) {
      expect(path.startsWith('/api/v1/') || path === '/.well-known/jwks.json').toBe(true);
    }
    for (const [path, methods] of INTERFACE) {
      const url = harness.url + path.replace(':id', crypto.randomUUID());
      const response = await fetch(url, { method: 'OPTIONS' });
      expect(methodsIn(response.headers.get('allow'))).toEqual(methods.split(', '));
    }
  });

  test('[G-1] [G-12] routes of another version or without the prefix return 404', async () => {
    for (const path of ['/api/v2/time', '/api/time', '/v1/time', '/api/v1', '/API/v1/time']) {
      await expectProblem(await fetch(harness.url + path), 404);
    }
  });
});

const lengthOf = async (response: Response) => String((await response.bytes()).length);

describe('a success of', () => {
  test.each(OPERATION_NAMES)(
    '[G-2] [G-3] [G-4] [G-5] [G-6] [G-25] %s has its status and the common headers',
    async (name) => {
      const operation = OPERATIONS[name];
      const response = await send(harness, await validRequest(harness, name));
      const [status] = Object.keys(operation.responses);
      expect([name, response.status]).toEqual([name, Number(status)]);
      expectBaseHeaders(response);
      expect(response.headers.get('cache-control')).toBe(OWN_CACHE_CONTROL[name] ?? 'no-store');
      if (response.status === 204) return expectNoContent(response);
      if (STREAMED.includes(name)) return response.body?.cancel();
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(await response.json()).toBeObject();
    },
  );

  test('[G-5] interface operations return 200 for reads and tokens and 204 for other writes', () => {
    const statuses = Object.entries(viewerApi).map(([name, { responses, method }]) => {
      const [status] = Object.keys(responses);
      return [name, method === 'GET' || name === 'createToken' ? 200 : 204, Number(status)];
    });
    for (const [name, expected, status] of statuses)
      expect([name, status]).toEqual([name, expected]);
  });

  test.each(OPERATION_NAMES)(
    '[G-8] %s is the same with and without a trailing slash',
    async (name) => {
      const statuses: number[] = [];
      for (const slash of ['', '/']) {
        const request = await validRequest(harness, name);
        const [path = '', query] = request.path.split('?');
        const turned = path.replace(/\/$/, '') + slash + (query ? `?${query}` : '');
        const response = await send(harness, { ...request, path: turned });
        expect(response.headers.has('location')).toBe(false);
        statuses.push(response.status);
      }
      const [status] = Object.keys(OPERATIONS[name].responses).map(Number);
      expect(statuses).toEqual([status as number, status as number]);
    },
  );

  const READS = OPERATION_NAMES.filter((name) => OPERATIONS[name].method === 'GET');
  test.each(READS)(
    '[G-9] HEAD of %s has the status and headers of GET and no body',
    async (name) => {
      const request = await validRequest(harness, name);
      const get = await send(harness, request);
      const head = await send(harness, request, { method: 'HEAD' });
      expect(head.status).toBe(get.status);
      const same = (response: Response) =>
        [...response.headers].filter(
          ([header]) => !['date', 'x-request-id', 'transfer-encoding'].includes(header),
        );
      // A list above 64 KB is streamed, too (L-17).
      const isStreamed = STREAMED.includes(name) || get.headers.has('transfer-encoding');
      const withLength = isStreamed ? [] : [['content-length', await lengthOf(get)]];
      if (isStreamed) await get.body?.cancel();
      const expected = [
        ...same(get).filter(([header]) => header !== 'content-length'),
        ...withLength,
      ];
      expect(same(head).sort()).toEqual(expected.sort() as [string, string][]);
      expect((await head.bytes()).length).toBe(0);
      const raw = await rawExchange(harness.url, [
        rawHead(`HEAD ${request.path}`, request.headers),
      ]);
      expect(raw.text.endsWith('\r\n\r\n')).toBe(true);
      expect(raw.text.indexOf('\r\n\r\n')).toBe(raw.text.length - 4);
    },
  );

  test('[G-9] HEAD of a failing GET has its status and no body', async () => {
    for (const path of ['/api/v1/users/me', '/nowhere', '/api/v1/token']) {
      const head = await fetch(harness.url + path, { method: 'HEAD' });
      const get = await fetch(harness.url + path);
      expect(head.status).toBe(get.status);
      expect(head.headers.get('allow')).toBe(get.headers.get('allow'));
      expect((await head.bytes()).length).toBe(0);
    }
  });
});

describe('methods', () => {
  test.each(PATHS)('[G-10] [G-26] OPTIONS %s returns 204 with preflight headers', async (path) => {
    const response = await fetch(harness.url + path, { method: 'OPTIONS' });
    await expectNoContent(response);
    const { headers } = response;
    expect(methodsIn(headers.get('access-control-allow-methods'))).toEqual(
      methodsIn(headers.get('allow')),
    );
    expect(headers.get('access-control-allow-headers')?.split(', ').sort()).toEqual([
      'Authorization',
      'Content-Type',
      'Idempotency-Key',
      'If-None-Match',
      'Last-Event-ID',
      'X-Request-Id',
    ]);
    expect(headers.get('access-control-max-age')).toBe('86400');
  });

  test('[G-10] OPTIONS of an unknown path returns 204 with Allow: OPTIONS', async () => {
    const response = await fetch(`${harness.url}/api/v1/nowhere`, { method: 'OPTIONS' });
    await expectNoContent(response);
    expect(response.headers.get('allow')).toBe('OPTIONS');
  });

  test.each(PATHS)('[G-11] [G-2] %s with an unsupported method returns 405', async (path) => {
    const options = await fetch(harness.url + path, { method: 'OPTIONS' });
    const allowed = methodsIn(options.headers.get('allow'));
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((m) => !allowed.includes(m));
    expect(others.length).toBeGreaterThan(0);
    for (const method of others) {
      const response = await fetch(harness.url + path, { method });
      await expectProblem(response, 405);
      expect(methodsIn(response.headers.get('allow'))).toEqual(allowed);
    }
  });

  test('[G-11] uncommon methods return 405 too', async () => {
    for (const method of ['TRACE', 'CONNECT', 'PURGE']) {
      const { status, text } = await rawExchange(harness.url, [rawHead(`${method} /api/v1/time`)]);
      expect([method, status]).toEqual([method, 405]);
      expect(text).toContain('Allow: GET, HEAD, OPTIONS');
    }
  });
});

test('[G-25] every response allows exactly the configured origin', async () => {
  const corsOrigin = 'https://show.example.org';
  await using closed = await startService({ config: { corsOrigin } });
  for (const path of ['/api/v1/time', '/api/v1/users/me', '/nowhere']) {
    for (const method of ['GET', 'OPTIONS', 'PUT']) {
      const headers = { Origin: 'https://elsewhere.example' };
      const response = await fetch(closed.url + path, { method, headers });
      expect(response.headers.get('access-control-allow-origin')).toBe(corsOrigin);
      expect(response.headers.has('access-control-allow-credentials')).toBe(false);
    }
  }
});
