import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  expectNoContent,
  expectNoDefects,
  expectProblem,
} from '../support/conformance/expectations.ts';
import {
  HIGH_RATES,
  OPERATION_NAMES,
  OPERATIONS,
  send,
  validRequest,
} from '../support/conformance/operations.ts';
import { rawBody, rawExchange, rawHead, responseOf } from '../support/conformance/raw-http.ts';
import { SOME_BACKENDS } from '../support/full-run.ts';
import { type Harness, startService } from '../support/harness/harness.ts';

// SQLite accepts some texts that PostgreSQL rejects, so run on both.
describe.each(SOME_BACKENDS)('on %s backends', (backends) => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startService({ backends, config: { rates: HIGH_RATES } });
  }, 30_000);
  afterAll(async () => {
    expectNoDefects(harness);
    await harness.close();
  });

  describe('paths', () => {
    const WITH_ID = OPERATION_NAMES.filter((name) => OPERATIONS[name].path.includes('{'));
    const IDS = [
      '%00',
      `${crypto.randomUUID()}%00`,
      'x',
      '0',
      '-1',
      '%20',
      '%2F',
      '..%2f..%2fetc%2fpasswd',
      '__proto__',
      'constructor',
      "'%20or%201=1--",
      '%F0%9F%98%80',
      '%E2%80%AE',
      `%7B${crypto.randomUUID()}%7D`,
      `${crypto.randomUUID()}0`,
      'x'.repeat(5_000),
      '%C3%A9'.repeat(1_000),
    ];
    const pathWith = (name: keyof typeof OPERATIONS, id: string, valid: string) =>
      OPERATIONS[name].path.replace(/\{\w+\}/, () => id) +
      (valid.split('?')[1] ? '?interval=1' : '');

    test.each(WITH_ID)('[G-12] [T-13] %s with an unknown id returns 404 or 401', async (name) => {
      const request = await validRequest(harness, name);
      const { access } = OPERATIONS[name];
      const status = access === 'viewer' && name !== 'answerQuiz' ? 401 : 404;
      for (const id of IDS) {
        const path = pathWith(name, id, request.path);
        await expectProblem(await send(harness, { ...request, path }), status);
      }
    });

    test.each(WITH_ID)(
      '[G-24] %s with malformed percent-encoding in the path returns 400',
      async (name) => {
        const request = await validRequest(harness, name);
        for (const id of ['%ff', '%', '%zz', '%e9', 'x%2', '%ed%a0%80', '%c0%80']) {
          const path = pathWith(name, id, request.path);
          const { detail } = await expectProblem(await send(harness, { ...request, path }), 400);
          expect(detail).toContain('percent-encoding');
        }
      },
    );

    test.each(WITH_ID)(
      '[G-12] [G-28] %s with dot segments for an id reaches no other resource',
      async (name) => {
        const request = await validRequest(harness, name);
        for (const id of ['..', '.', '%2e%2e', '%2E', '...', '..;', '../../studio/v1', '']) {
          const head = rawHead(`${request.method} ${pathWith(name, id, request.path)}`, {
            ...request.headers,
            'Content-Length': '0',
          });
          const answer = await rawExchange(harness.url, [head], { waitMs: 2_000 });
          // Without the id the path may be that of a public list, and of nothing else.
          if (answer.status === 200)
            expect(rawBody(answer)).toMatch(/^(?:[\da-f]+\r\n)?\{"results":\[/);
          else {
            expect(answer.status).toBeWithin(400, 416);
            await expectProblem(responseOf(answer), answer.status);
          }
        }
      },
    );
  });

  describe('queries', () => {
    test('[G-24] a repeated known parameter returns 400 and is named in the error', async () => {
      const { account } = harness;
      const id = await harness.createStream();
      const producer = `producer=${account.uuid}`;
      const repeated: [string, string, string][] = [
        ['producer', `/api/v1/streams/?${producer}&${producer}`, ''],
        ['page', `/api/v1/streams/?${producer}&page=1&page=1`, ''],
        ['page_size', `/api/v1/streams/?${producer}&page_size=1&%70age_size=2`, ''],
        ['format', `/studio/v1/streams/${id}/exports/feed?format=csv&format=csv`, account.token],
      ];
      for (const [name, path, token] of repeated) {
        const headers: Record<string, string> = token ? { Authorization: `Token ${token}` } : {};
        const { detail } = await expectProblem(await fetch(harness.url + path, { headers }), 400);
        expect(detail).toContain(name);
      }
    });

    test.each(OPERATION_NAMES)('[G-24] %s with a malformed query returns 400', async (name) => {
      const request = await validRequest(harness, name);
      for (const query of ['x=%', 'x=%ff', '%zz=1', 'x=%ed%a0%80']) {
        const path = `${request.path}${request.path.includes('?') ? '&' : '?'}${query}`;
        await expectProblem(await send(harness, { ...request, path }), 400);
      }
    });

    test('[P-27] [G-21] an unknown export format returns 400', async () => {
      const id = await harness.createStream();
      for (const format of ['', 'xml', 'CSV', 'ndjson,csv', '__proto__']) {
        const path = `/streams/${id}/exports/answers?format=${format}`;
        const { detail } = await expectProblem(await harness.studio('GET', path), 400);
        expect(detail).toContain('format');
      }
    });
  });

  describe('the order of checks', () => {
    const chunked = (text: string) =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(text));
          controller.close();
        },
      });

    test('[G-17] a request is checked in the order path, method, encoding, announced size, credential, type, size, form, database', async () => {
      const valid = await validRequest(harness, 'answerQuiz');
      const json = { 'Content-Type': 'application/json' };
      const wrongType = { 'Content-Type': 'text/plain' };
      const { Authorization = '' } = valid.headers;
      const call = (path: string, init: RequestInit) => fetch(harness.url + path, init);
      const post = { method: 'POST' };
      const big = 'x'.repeat(5_000);
      await expectProblem(await call(`${valid.path}/more?x=%`, { ...post, body: big }), 404);
      await expectProblem(await call(`${valid.path}?x=%`, { method: 'PUT', body: big }), 405);
      await expectProblem(await call(`${valid.path}?x=%`, { ...post, body: big }), 400);
      await expectProblem(await call(valid.path, { ...post, headers: wrongType, body: big }), 413);
      const bare = { ...post, headers: wrongType, body: chunked(big) };
      await expectProblem(await call(valid.path, bare), 401);
      const typed = { ...post, headers: { ...wrongType, Authorization }, body: chunked(big) };
      await expectProblem(await call(valid.path, typed), 415);
      const sized = { ...post, headers: { ...json, Authorization }, body: chunked(big) };
      await expectProblem(await call(valid.path, sized), 413);
      const unknown = `/api/v1/quizzes/${crypto.randomUUID()}/answer`;
      const formed = { ...post, headers: { ...json, Authorization }, body: '{}' };
      await expectProblem(await call(unknown, formed), 400);
      const body = JSON.stringify(valid.body);
      await expectProblem(await call(unknown, { ...formed, body }), 404);
      await expectNoContent(await call(valid.path, { ...formed, body }));
    });

    test('[G-17] a studio request is checked in the order credential, type, size, form, database', async () => {
      const { path, headers, body } = await validRequest(harness, 'patchStream');
      const other = await harness.createAccount();
      const call = (init: RequestInit) => fetch(harness.url + path, { method: 'PATCH', ...init });
      const big = chunked('x'.repeat(20_000));
      await expectProblem(await call({ body: big }), 401);
      const { Authorization = '' } = headers;
      const typed = { headers: { Authorization }, body: new Uint8Array([0x7b]) };
      await expectProblem(await call(typed), 415);
      await expectProblem(await call({ headers, body: chunked('x'.repeat(20_000)) }), 413);
      const others = { ...headers, Authorization: `Token ${other.token}` };
      await expectProblem(await call({ headers: others, body: '{}' }), 400);
      await expectProblem(await call({ headers: others, body: JSON.stringify(body) }), 404);
    });
  });

  const KEEP_ALIVE_CHUNKED = { Connection: 'keep-alive', 'Transfer-Encoding': 'chunked' };

  describe('unexpected bodies', () => {
    test('[G-23] an unexpected body within the limit is ignored; the connection stays open unless the body was chunked', async () => {
      const { path, headers } = await validRequest(harness, 'registerView');
      const keep = { ...headers, Connection: 'keep-alive' };
      const count = rawHead(`GET ${path}`, headers);
      const sent = 'nonsense that is no JSON';
      const announced = rawHead(`POST ${path}`, { ...keep, 'Content-Length': `${sent.length}` });
      const first = await rawExchange(harness.url, [announced + sent, 20, count], {
        waitMs: 2_000,
      });
      const chunks = rawHead(`POST ${path}`, { ...keep, 'Transfer-Encoding': 'chunked' });
      const parts = [`${chunks}5\r\nnonse\r\n`, 20, '3\r\nnse\r\n0\r\n\r\n', count];
      const second = await rawExchange(harness.url, parts, { waitMs: 2_000 });
      expect(first.text).toStartWith('HTTP/1.1 204 ');
      expect(first.text).toEndWith('{"value":1,"formatted":"1"}');
      expect(second.text).toStartWith('HTTP/1.1 204 ');
      expect(second.text.match(/^connection: close\r$/gim)).toHaveLength(1);
      expect([second.closed, second.text.endsWith('\r\n\r\n')]).toEqual([true, true]);
    });

    test('[G-23] [L-1] an unexpected body over the limit returns 413 on every route that takes none', async () => {
      const bodiless = OPERATION_NAMES.filter(
        (name) => !OPERATIONS[name].body && OPERATIONS[name].method !== 'GET',
      );
      expect(bodiless.length).toBeGreaterThanOrEqual(6);
      for (const name of bodiless) {
        const request = await validRequest(harness, name);
        const body = 'x'.repeat(OPERATIONS[name].bodyBytes + 1);
        await expectProblem(await send(harness, request, { body }), 413);
        const within = body.slice(1);
        expect([name, (await send(harness, request, { body: within })).ok]).toEqual([name, true]);
      }
    });

    test('[G-23] [L-1] an unexpected chunked body over the limit returns 413, closes the connection and has no effect', async () => {
      const { path, headers } = await validRequest(harness, 'registerView');
      const head = rawHead(`POST ${path}`, { ...headers, ...KEEP_ALIVE_CHUNKED });
      const chunk = `400\r\n${'x'.repeat(1_024)}\r\n`;
      const parts = Array.from({ length: 5 }, () => [chunk, 5]).flat();
      const answer = await rawExchange(harness.url, [head, ...parts], { waitMs: 2_000 });
      expect([answer.status, answer.closed]).toEqual([413, true]);
      const count = await fetch(harness.url + path, { headers });
      expect(await count.json()).toMatchObject({ value: 0 });
    });

    test('[G-23] a GET with a chunked body returns 400 and closes the connection', async () => {
      const { path, headers } = await validRequest(harness, 'readViewCount');
      const head = rawHead(`GET ${path}`, { ...headers, ...KEEP_ALIVE_CHUNKED });
      const answer = await rawExchange(harness.url, [`${head}5\r\nnonse\r\n`], { waitMs: 2_000 });
      expect([answer.status, answer.closed]).toEqual([400, true]);
    });

    test('[G-23] an error closes the connection of a chunked body, which may never end', async () => {
      const { path, headers } = await validRequest(harness, 'registerView');
      const { Authorization: _, ...anonymous } = headers;
      for (const [first, status] of [
        ['POST /nothing', 404],
        [`PUT ${path}`, 405],
        [`POST ${path}?x=%`, 400],
        ['POST /api/v1/token', 415],
        [`POST /api/v1/quizzes/${crypto.randomUUID()}/answer`, 401],
      ] as const) {
        const head = rawHead(first, { ...anonymous, ...KEEP_ALIVE_CHUNKED });
        const answer = await rawExchange(harness.url, [`${head}5\r\nnonse\r\n`], { waitMs: 2_000 });
        expect([first, answer.status, answer.closed]).toEqual([first, status, true]);
      }
    });
  });
});
