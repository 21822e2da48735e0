import { afterAll, expect, test } from 'bun:test';
import { expectNoDefects, expectProblem } from '../support/conformance/expectations.ts';
import { validRequest } from '../support/conformance/operations.ts';
import { rawBody, rawExchange, rawHead, responseOf } from '../support/conformance/raw-http.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson } from '../support/harness/harness.ts';

const harness = await serviceOfFile();
afterAll(() => expectNoDefects(harness));

test('[G-19] a request that stops halfway through its body has no effect and is not logged as a defect', async () => {
  const { path, headers, body } = await validRequest(harness, 'createStream');
  const text = JSON.stringify({ ...body, title: 'half a body' });
  const head = rawHead(`POST ${path}`, { ...headers, 'Content-Length': `${text.length}` });
  await rawExchange(harness.url, [head + text.slice(0, 20), 20], { end: true });
  const chunks = rawHead(`POST ${path}`, { ...headers, 'Transfer-Encoding': 'chunked' });
  await rawExchange(harness.url, [`${chunks}14\r\n${text.slice(0, 10)}`, 20], { end: true });
  await Bun.sleep(20);
  expectNoDefects(harness);
  const streams = await harness.studio('GET', '/streams');
  expect(await streams.text()).not.toContain('half a body');
});

test('[L-2] a body sent too slowly returns 408 after 5 s and closes the connection', async () => {
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
    expect(answer.elapsedMs).toBeGreaterThan(4_900);
    await expectProblem(responseOf(answer), 408);
  }
}, 15_000);

test('[L-1] [G-17] a body announced over the limit is rejected before it is sent', async () => {
  const { path, headers } = await validRequest(harness, 'createToken');
  for (const length of ['4097', '100000000']) {
    const head = rawHead(`POST ${path}`, { ...headers, 'Content-Length': length });
    const answer = await rawExchange(harness.url, [head], { waitMs: 2_000 });
    expect([answer.status, answer.closed]).toEqual([413, true]);
    await expectProblem(responseOf(answer), 413);
  }
});

test.each(['createToken', 'signIn', 'createStream', 'importQuizzes'] as const)(
  '[G-24] [L-1] a repeated length does not lift the limit of %s',
  async (name) => {
    const { path, headers } = await validRequest(harness, name);
    const body = '[],'.repeat(1 << 19);
    const length = `Content-Length: ${body.length}\r\n`;
    const head = rawHead(`POST ${path}`, headers).replace(/\r\n$/, `${length}${length}\r\n`);
    const answer = await rawExchange(harness.url, [head + body], { waitMs: 2_000 });
    expect([answer.status, answer.closed]).toEqual([400, true]);
    await expectProblem(responseOf(answer), 400);
    expect(rawBody(answer)).toContain('Content-Length');
  },
);

test('[L-1] an endless chunked body is cut off at the limit', async () => {
  const { path, headers } = await validRequest(harness, 'createToken');
  const head = rawHead(`POST ${path}`, { ...headers, 'Transfer-Encoding': 'chunked' });
  const chunk = `3e8\r\n${' '.repeat(1_000)}\r\n`;
  const endless = Array.from({ length: 200 }, () => [chunk, 10]).flat();
  const answer = await rawExchange(harness.url, [head, ...endless]);
  expect([answer.status, answer.closed]).toEqual([413, true]);
});

test('[G-28] an invalid Host, or no Host in HTTP/1.0, does not cause a 500', async () => {
  const id = await harness.createStream();
  const path = `/api/v1/streams/${id}/`;
  const long = `${'a'.repeat(62)}.`.repeat(5);
  for (const host of ['', 'a b', '[::1', 'x:99999999', '"<>', 'http://x/', long]) {
    const answer = await rawExchange(harness.url, [rawHead(`GET ${path}`, { Host: host })]);
    expect([host, answer.status]).toEqual([host, 200]);
    const { hls_url } = await expectJson<{ hls_url: string }>(responseOf(answer), 200);
    expect(URL.canParse(hls_url)).toBe(true);
    expect(hls_url).not.toContain(long);
  }
  const old = await rawExchange(harness.url, [`GET ${path} HTTP/1.0\r\n\r\n`]);
  expect(old.status).toBe(200);
});

test('[G-28] hostile or absurd header values do not cause a 500', async () => {
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
const RAW_REQUESTS: [string, number, string | Uint8Array][] = [
  ['no HTTP at all', 400, 'hello\r\n\r\n'],
  ['the start of TLS', 400, new Uint8Array([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc])],
  ['no Host', 400, `${GET}\r\n`],
  ['two Hosts', 400, `${GET}${HOST}${HOST}\r\n`],
  ['a header without a colon', 400, `${GET}${HOST}nonsense\r\n\r\n`],
  ['a control character in a header', 400, `${GET}${HOST}X: a\x01b\r\n\r\n`],
  ['DEL in a header', 400, `${GET}${HOST}X: a\x7fb\r\n\r\n`],
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
  ['an unknown method', 400, `BREW /api/v1/time HTTP/1.1\r\n${HOST}\r\n`],
  ['a method in lower case', 400, `get /api/v1/time HTTP/1.1\r\n${HOST}\r\n`],
];
test.each(RAW_REQUESTS)(
  '[G-31] %s returns %d without a body and closes the connection',
  async (_, status, sent) => {
    const answer = await rawExchange(harness.url, [sent], { waitMs: 2_000 });
    expect([answer.status, answer.closed]).toEqual([status, true]);
    expect(rawBody(answer)).toBe('');
    expectNoDefects(harness);
  },
);
