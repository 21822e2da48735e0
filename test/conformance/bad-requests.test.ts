import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { expectJson, type Harness, startService } from '../harness.ts';
import { expectNoContent, expectProblem } from './expectations.ts';
import { OPERATION_NAMES, OPERATIONS, PLENTY_OF_ALL, send, validRequest } from './operations.ts';
import { type RawAnswer, rawBody, rawExchange, rawHead } from './raw-http.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startService({ config: { rates: PLENTY_OF_ALL } });
});
/** Answers of the service with a 5xx so far, by its own count: what a raw client may not see. */
function defects(): number {
  return harness.service.stats.requests.counters
    .map(({ counts }) => counts.slice(500).reduce((sum, count) => sum + count, 0))
    .reduce((sum, count) => sum + count, 0);
}
afterAll(async () => {
  expect(defects()).toBe(0);
  await harness.close();
});

/** A raw answer as a response, to be checked like any other. */
function responseOf({ text, status }: RawAnswer): Response {
  const head = text.slice(text.indexOf('\r\n') + 2, text.indexOf('\r\n\r\n'));
  const headers = head.split('\r\n').map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  return new Response(rawBody({ text, status, closed: true, elapsedMs: 0 }), { status, headers });
}

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
    OPERATIONS[name].path.replace(/\{\w+\}/, () => id) + (valid.split('?')[1] ? '?interval=1' : '');

  test.each(WITH_ID)('[G-12] [T-13] %s with an id that names nothing', async (name) => {
    const request = await validRequest(harness, name);
    const { access } = OPERATIONS[name];
    const status = access === 'viewer' && name !== 'answerQuiz' ? 401 : 404;
    for (const id of IDS) {
      const path = pathWith(name, id, request.path);
      await expectProblem(await send(harness, { ...request, path }), status);
    }
  });

  test.each(WITH_ID)('[G-24] %s with malformed percent-encoding is 400', async (name) => {
    const request = await validRequest(harness, name);
    for (const id of ['%ff', '%', '%zz', '%e9', 'x%2', '%ed%a0%80', '%c0%80']) {
      const path = pathWith(name, id, request.path);
      const { detail } = await expectProblem(await send(harness, { ...request, path }), 400);
      expect(detail).toContain('percent-encoding');
    }
  });

  test.each(WITH_ID)('[G-12] [G-28] %s with dots for an id goes nowhere else', async (name) => {
    const request = await validRequest(harness, name);
    for (const id of ['..', '.', '%2e%2e', '%2E', '...', '..;', '../../studio/v1', '']) {
      const head = rawHead(`${request.method} ${pathWith(name, id, request.path)}`, {
        ...request.headers,
        'Content-Length': '0',
      });
      const answer = await rawExchange(harness.url, [head], { waitMs: 2_000 });
      // Without the id a path may be that of the list, which is no secret; nothing else.
      if (answer.status === 200) expect(rawBody(answer)).toStartWith('{"results":[');
      else {
        expect(answer.status).toBeWithin(400, 416);
        await expectProblem(responseOf(answer), answer.status);
      }
    }
  });
});

describe('queries', () => {
  test('[G-24] a parameter that the route knows, repeated, is 400 and named', async () => {
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

  test.each(OPERATION_NAMES)('[G-24] %s with a malformed query is 400', async (name) => {
    const request = await validRequest(harness, name);
    for (const query of ['x=%', 'x=%ff', '%zz=1', 'x=%ed%a0%80']) {
      const path = `${request.path}${request.path.includes('?') ? '&' : '?'}${query}`;
      await expectProblem(await send(harness, { ...request, path }), 400);
    }
  });

  test('[P-27] [G-21] an export format that does not exist is 400', async () => {
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

  test('[G-17] path, method, encoding, announced size, credential, type, size, form, record', async () => {
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

  test('[G-17] the same in the studio: credential, type, size, form, record', async () => {
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

describe('bodies where none is taken', () => {
  test('[G-23] one that is sent is ignored within the limit, and the connection goes on', async () => {
    const { path, headers } = await validRequest(harness, 'registerView');
    const keep = { ...headers, Connection: 'keep-alive' };
    const count = rawHead(`GET ${path}`, headers);
    const sent = 'nonsense that is no JSON';
    const announced = rawHead(`POST ${path}`, { ...keep, 'Content-Length': `${sent.length}` });
    const first = await rawExchange(harness.url, [announced + sent, 20, count], { waitMs: 2_000 });
    const chunks = rawHead(`POST ${path}`, { ...keep, 'Transfer-Encoding': 'chunked' });
    const parts = [`${chunks}5\r\nnonse\r\n`, 20, '3\r\nnse\r\n0\r\n\r\n', count];
    const second = await rawExchange(harness.url, parts, { waitMs: 2_000 });
    for (const { text } of [first, second]) {
      expect(text).toStartWith('HTTP/1.1 204 ');
      expect(text).toEndWith('{"value":1,"formatted":"1"}');
    }
  });

  test('[G-23] [L-1] beyond the limit it is 413, on every such route', async () => {
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
});

describe('connections', () => {
  test('[G-19] half a body and then nothing is no defect, and is not done', async () => {
    const { path, headers, body } = await validRequest(harness, 'createStream');
    const text = JSON.stringify({ ...body, title: 'half a body' });
    const head = rawHead(`POST ${path}`, { ...headers, 'Content-Length': `${text.length}` });
    await rawExchange(harness.url, [head + text.slice(0, 20), 20], { end: true });
    const chunks = rawHead(`POST ${path}`, { ...headers, 'Transfer-Encoding': 'chunked' });
    await rawExchange(harness.url, [`${chunks}14\r\n${text.slice(0, 10)}`, 20], { end: true });
    await Bun.sleep(20);
    expect(defects()).toBe(0);
    const streams = await harness.studio('GET', '/streams');
    expect(await streams.text()).not.toContain('half a body');
  });

  test('[L-2] a body that drips is 408 after 5 s, and the connection closes', async () => {
    const { path, headers } = await validRequest(harness, 'createToken');
    const announced = rawHead(`POST ${path}`, {
      ...headers,
      Connection: 'keep-alive',
      'Content-Length': '100',
    });
    const chunks = rawHead(`POST ${path}`, {
      ...headers,
      Connection: 'keep-alive',
      'Transfer-Encoding': 'chunked',
    });
    const drip = (head: string, part: string) => [
      head,
      ...Array.from({ length: 12 }, () => [part, 500]).flat(),
    ];
    const answers = await Promise.all([
      rawExchange(harness.url, drip(announced, ' ')),
      rawExchange(harness.url, drip(chunks, '1\r\n \r\n')),
      rawExchange(harness.url, [announced], { waitMs: 6_000 }),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(408);
      expect(answer.closed).toBe(true);
      expect(answer.elapsedMs).toBeWithin(4_900, 5_900);
      await expectProblem(responseOf(answer), 408);
    }
  }, 15_000);

  test('[L-1] [G-17] an announced body over the limit is refused before it is sent', async () => {
    const { path, headers } = await validRequest(harness, 'createToken');
    for (const length of ['4097', '100000000']) {
      const head = rawHead(`POST ${path}`, { ...headers, 'Content-Length': length });
      const answer = await rawExchange(harness.url, [head], { waitMs: 2_000 });
      expect([answer.status, answer.closed]).toEqual([413, true]);
      await expectProblem(responseOf(answer), 413);
    }
  });

  test('[L-1] an endless chunked body is cut off at the limit', async () => {
    const { path, headers } = await validRequest(harness, 'createToken');
    const head = rawHead(`POST ${path}`, { ...headers, 'Transfer-Encoding': 'chunked' });
    const chunk = `3e8\r\n${' '.repeat(1_000)}\r\n`;
    const endless = Array.from({ length: 200 }, () => [chunk, 10]).flat();
    const answer = await rawExchange(harness.url, [head, ...endless]);
    expect([answer.status, answer.closed]).toEqual([413, true]);
    expect(answer.elapsedMs).toBeLessThan(1_500);
  });

  test('[G-28] a Host that is none, or no Host in HTTP/1.0, is no defect', async () => {
    const id = await harness.createStream();
    const path = `/api/v1/streams/${id}/`;
    for (const host of ['', 'a b', '[::1', 'x:99999999', '"<>', 'http://x/']) {
      const answer = await rawExchange(harness.url, [rawHead(`GET ${path}`, { Host: host })]);
      expect([host, answer.status]).toEqual([host, 200]);
      const { hls_url } = await expectJson<{ hls_url: string }>(responseOf(answer), 200);
      expect(URL.canParse(hls_url)).toBe(true);
    }
    const old = await rawExchange(harness.url, [`GET ${path} HTTP/1.0\r\n\r\n`]);
    expect(old.status).toBe(200);
  });

  test('[G-28] hostile or absurd header values are no defect', async () => {
    const id = await harness.createStream();
    const viewer = await harness.viewer(id);
    await harness.advance(1);
    const hostile = ['', ',', ';', '"', '\\', '*', '__proto__', 'x'.repeat(4_000), '\u00ff\u0080'];
    for (const name of [
      'Accept',
      'Authorization',
      'Content-Type',
      'Content-Encoding',
      'If-None-Match',
      'Last-Event-ID',
      'X-Request-Id',
      'X-Forwarded-For',
      'Idempotency-Key',
      'Origin',
      'Expect',
      'Range',
      'Upgrade',
    ]) {
      for (const value of hostile) {
        for (const first of [
          'GET /api/v1/time',
          `GET /api/v1/streams/${id}/`,
          `GET /api/v1/events-streams/${id}?interval=${harness.interval() - 1}`,
          `OPTIONS /api/v1/events-streams/${id}`,
        ]) {
          const headers = { Authorization: `Bearer ${viewer.token}`, [name]: value };
          const answer = await rawExchange(harness.url, [rawHead(first, headers)], {
            waitMs: 2_000,
          });
          const isFine = answer.status >= 200 && answer.status < 500;
          expect([name, value, first, isFine]).toEqual([name, value, first, true]);
        }
      }
    }
  });

  const GET = 'GET /api/v1/time HTTP/1.1\r\n';
  const HOST = 'Host: x\r\n';
  const BARE: [string, number, string | Uint8Array][] = [
    ['no HTTP at all', 400, 'hello\r\n\r\n'],
    ['the start of TLS', 400, new Uint8Array([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc])],
    ['no Host', 400, `${GET}\r\n`],
    ['a header without a colon', 400, `${GET}${HOST}nonsense\r\n\r\n`],
    ['a control character in a header', 400, `${GET}${HOST}X: a\x01b\r\n\r\n`],
    ['two lengths', 400, `${GET}${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`],
    ['a length that is no number', 400, `${GET}${HOST}Content-Length: x\r\n\r\n`],
    [
      'length and chunks',
      400,
      `${GET}${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['headers of 20,000 bytes', 431, `${GET}${HOST}X: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a path of 20,000 bytes', 431, `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`],
    ['another version', 505, `GET /api/v1/time HTTP/2.0\r\n${HOST}\r\n`],
    ['NUL in the path', 505, `GET /api/v1/\0 HTTP/1.1\r\n${HOST}\r\n`],
    ['an unknown method', 0, `BREW /api/v1/time HTTP/1.1\r\n${HOST}\r\n`],
    ['a method in lower case', 0, `get /api/v1/time HTTP/1.1\r\n${HOST}\r\n`],
  ];
  test.each(BARE)('[G-31] %s gets a bare %d and the close', async (_, status, sent) => {
    const answer = await rawExchange(harness.url, [sent], { waitMs: 2_000 });
    expect([answer.status, answer.closed]).toEqual([status, true]);
    if (status !== 0) expect(rawBody(answer)).toBe('');
    expect(defects()).toBe(0);
  });
});
