import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expectNoDefects } from '../support/conformance/expectations.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import { rawExchange } from '../support/conformance/raw-http.ts';
import { type Harness, startService, type TestViewer } from '../support/harness/harness.ts';

// Request smuggling and forged client addresses, through the gateway and the whole service.

let service: Harness;
let streamId: string;
let viewer: TestViewer;

beforeAll(async () => {
  service = await startService({ config: { rates: HIGH_RATES } });
  streamId = await service.createStream();
  viewer = await service.viewer(streamId);
  await service.advance(1);
});
afterAll(async () => {
  expectNoDefects(service);
  await service.close();
});

const HOST = 'Host: fourbeat.example\r\n';
const heartbeat = (headers = '') =>
  `POST /api/v1/view-counts/${streamId} HTTP/1.1\r\n${HOST}Authorization: Bearer ${viewer.token}\r\n${headers}\r\n`;
const read = (headers = '') =>
  `GET /api/v1/events-streams/${streamId}?interval=${service.interval() - 1} HTTP/1.1\r\n${HOST}Authorization: Bearer ${viewer.token}\r\n${headers}\r\n`;

/** A request that creates a stream with this title if it is executed. */
function smuggled(title: string): string {
  const body = JSON.stringify({ title });
  return `POST /studio/v1/streams HTTP/1.1\r\n${HOST}Authorization: Token ${service.account.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Whether the stream of a smuggled request exists. */
async function isExecuted(title: string): Promise<boolean> {
  await Bun.sleep(20);
  const streams = await service.studio('GET', '/streams?page_size=100');
  return (await streams.text()).includes(title);
}

const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, s]) => Number(s));

describe('a smuggled request', () => {
  test('would be executed if it were a request of its own', async () => {
    const title = randomUUID();
    const { text } = await rawExchange(service.url, [heartbeat() + smuggled(title) + read()]);
    expect(statusesOf(text)).toEqual([204, 201, 200]);
    expect(await isExecuted(title)).toBe(true);
  });

  test.each([
    ['a heartbeat', heartbeat],
    ['a read of the feed', read],
  ])('is not executed in the body of %s', async (_, request) => {
    const title = randomUUID();
    const body = smuggled(title);
    const carrying = request(`Content-Length: ${body.length}\r\n`);
    // The first request makes the gateway cache a template.
    const parts = [request(), 20, carrying + body, 50, request()];
    const { text } = await rawExchange(service.url, parts);
    expect(statusesOf(text)[0]).toBe(request === read ? 200 : 204);
    expect(await isExecuted(title)).toBe(false);
  });

  test.each([
    ['an empty chunked body', 'Transfer-Encoding: chunked\r\n', '0\r\n\r\n'],
    ['a chunked body', 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'],
  ])('is not executed after %s: the connection ends', async (_, header, body) => {
    const title = randomUUID();
    const sent = heartbeat(header) + body + smuggled(title);
    const { text, closed } = await rawExchange(service.url, [sent]);
    expect([statusesOf(text), closed]).toEqual([[204], true]);
    expect(await isExecuted(title)).toBe(false);
  });

  const LENGTH = 'Content-Length: 200\r\n';
  const CHUNKED = 'Transfer-Encoding: chunked\r\n';
  test.each([
    ['length, then chunked (CL.TE)', LENGTH + CHUNKED, '0\r\n\r\n'],
    ['chunked, then length (TE.CL)', `${CHUNKED}Content-Length: 5\r\n`, '0\r\n\r\n'],
    [
      'chunked with a space after the name (TE.TE)',
      `Transfer-Encoding : chunked\r\n${LENGTH}`,
      '0\r\n\r\n',
    ],
    ['an unknown encoding', `Transfer-Encoding: xchunked\r\n`, '0\r\n\r\n'],
    ['chunked on a folded line', `Transfer-Encoding:\r\n chunked\r\n`, '0\r\n\r\n'],
    ['chunked after a vertical tab', `Transfer-Encoding:\x0bchunked\r\n`, '0\r\n\r\n'],
    ['two lengths', `Content-Length: 0\r\n${LENGTH}`, ''],
    ['two lengths in the other order', `${LENGTH}Content-Length: 0\r\n`, ''],
    ['a list of lengths', 'Content-Length: 0, 5\r\n', ''],
    ['a length with a plus sign', 'Content-Length: +0\r\n', ''],
    ['a negative length', 'Content-Length: -1\r\n', ''],
    ['a length after a NUL byte', 'X: \0\r\nContent-Length: 0\r\n', ''],
    ['a length after a bare LF', `X: y\n${LENGTH}`, ''],
    ['a length after a bare CR', `X: y\r${LENGTH}`, ''],
    ['an invalid last chunk', CHUNKED, '0\r\nX\r\n'],
  ])('is not executed after %s: the connection ends', async (_, header, body) => {
    const title = randomUUID();
    for (const request of [heartbeat, read]) {
      const sent = request() + request(header) + body + smuggled(title);
      const { text, closed } = await rawExchange(service.url, [sent]);
      expect([statusesOf(text).length <= 2, closed]).toEqual([true, true]);
      expect(statusesOf(text)).not.toContain(201);
      expect(await isExecuted(title)).toBe(false);
    }
  });

  test('changes no response to other clients', async () => {
    const requestIdOf = async (n: number) => {
      const response = await fetch(`${service.url}/nothing`, {
        headers: { 'X-Request-Id': `n-${n}` },
      });
      return response.headers.get('x-request-id');
    };
    const ambiguousHeaders = [
      LENGTH + CHUNKED,
      `Content-Length: 0\r\nContent-Length: 0\r\n`,
      CHUNKED,
      'X : y\r\n',
    ];
    for (let n = 0; n < 40; n++) {
      const ambiguous = heartbeat(ambiguousHeaders[n % ambiguousHeaders.length]);
      const sent = ambiguous + `0\r\n\r\n${read('X-Request-Id: evil\r\n')}`.repeat(3);
      const attack = rawExchange(service.url, [sent], { waitMs: 20 });
      const numbers = [3 * n, 3 * n + 1, 3 * n + 2];
      const ids = await Promise.all(numbers.map(requestIdOf));
      expect(ids).toEqual(numbers.map((number) => `n-${number}`));
      await attack;
    }
  });
});

test('pipelined requests of all kinds get their responses in order, however they are split', async () => {
  const time = `GET /api/v1/time HTTP/1.1\r\n${HOST}\r\n`;
  const nothing = `GET /nothing HTTP/1.1\r\n${HOST}\r\n`;
  const all = [heartbeat(), time, read(), nothing, heartbeat(), heartbeat(), time, read()].join('');
  const statuses = [204, 200, 200, 404, 204, 204, 200, 200];
  const unsplit = await rawExchange(service.url, [all]);
  expect(statusesOf(unsplit.text)).toEqual(statuses);
  for (const partBytes of [7, 61, 173, 500]) {
    const parts: (string | number)[] = [];
    for (let at = 0; at < all.length; at += partBytes) parts.push(all.slice(at, at + partBytes), 1);
    const { text } = await rawExchange(service.url, parts);
    expect(statusesOf(text)).toEqual(statuses);
  }
});

test('[L-1] a client that still sends its body receives the 413 and then the end of the connection', async () => {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port) });
  const outcome = new Promise<{ text: string; error: Error | null }>((resolve) => {
    let text = '';
    let error: Error | null = null;
    socket.on('data', (data: Buffer) => {
      text += data.toString('latin1');
    });
    socket.on('error', (broken) => {
      error = broken;
    });
    socket.on('end', () => resolve({ text, error }));
    socket.on('close', () => resolve({ text, error }));
  });
  socket.write(
    `POST /api/v1/token HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nContent-Length: 50000000\r\n\r\n`,
  );
  for (let n = 0; n < 50 && !socket.destroyed; n++) socket.write(Buffer.alloc(1_000_000, ' '));
  const { text, error } = await outcome;
  expect([statusesOf(text), error]).toEqual([[413], null]);
  socket.destroy();
});

// Only Linux has all of 127.0.0.0/8 without configuration.
describe.skipIf(process.platform !== 'linux')('the client address of a rate limit', () => {
  const LIMIT = { points: 3, durationS: 600 };
  let limited: Harness;
  let stream: string;

  beforeAll(async () => {
    limited = await startService({ config: { rates: { ...HIGH_RATES, tokens: LIMIT } } });
    stream = await limited.createStream();
  });
  afterAll(() => limited.close());

  /** The status of a request for a token, from an address of this machine. */
  async function statusFrom(localAddress: string, headers: string): Promise<number> {
    const { hostname, port } = new URL(limited.url);
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    const body = JSON.stringify({ stream_id: stream, unique_user_identifier: randomUUID() });
    const framed = headers.includes('chunked')
      ? `\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
      : `Content-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(
      `POST /api/v1/token HTTP/1.1\r\n${headers}${HOST}Content-Type: application/json\r\n${framed}`,
    );
    const [received] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return statusesOf(received.toString('latin1'))[0] ?? 0;
  }

  const FORGED = ['127.0.0.9', 's3cret 127.0.0.9', ' , x', 'undefined 127.0.0.9'].map(
    (value) => `X-Fourbeat-Client: ${value}\r\n`,
  );
  test.each([
    ['over a keep-alive connection', '127.0.0.2', ''],
    ['over a connection that closes', '127.0.0.3', 'Connection: close\r\n'],
    ['with a chunked body', '127.0.0.4', 'Transfer-Encoding: chunked\r\n'],
  ])(
    '[L-11] is that of the socket %s, whatever the client header says',
    async (_, address, headers) => {
      for (let n = 0; n < LIMIT.points; n++) expect(await statusFrom(address, headers)).toBe(200);
      expect(await statusFrom(address, headers)).toBe(429);
      for (const forged of [...FORGED, FORGED.join('')]) {
        expect(await statusFrom(address, forged + headers)).toBe(429);
      }
    },
  );

  test('[L-11] is not limited by requests of a client that forges it', async () => {
    const forged = 'X-Fourbeat-Client: 127.0.0.6\r\n';
    for (let n = 0; n < LIMIT.points; n++) expect(await statusFrom('127.0.0.5', forged)).toBe(200);
    expect(await statusFrom('127.0.0.5', forged)).toBe(429);
    expect(await statusFrom('127.0.0.6', '')).toBe(200);
  });
});
