import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expectNoDefects } from '../support/conformance/expectations.ts';
import { PLENTY_OF_ALL } from '../support/conformance/operations.ts';
import { rawExchange } from '../support/conformance/raw-http.ts';
import { type Harness, startService, type TestViewer } from '../support/harness/harness.ts';

// What a client hides in a request, or says of itself, through the front and the whole service.

let service: Harness;
let streamId: string;
let viewer: TestViewer;

beforeAll(async () => {
  service = await startService({ config: { rates: PLENTY_OF_ALL } });
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

/** A request that leaves a stream with this title behind, if it is ever heard. */
function hidden(title: string): string {
  const body = JSON.stringify({ title });
  return `POST /studio/v1/streams HTTP/1.1\r\n${HOST}Authorization: Token ${service.account.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

async function isHeard(title: string): Promise<boolean> {
  await Bun.sleep(20);
  const streams = await service.studio('GET', '/streams?page_size=100');
  return (await streams.text()).includes(title);
}

const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, s]) => Number(s));

describe('a request that is hidden in another', () => {
  test('is heard when it is not hidden', async () => {
    const title = randomUUID();
    const { text } = await rawExchange(service.url, [heartbeat() + hidden(title) + read()]);
    expect(statusesOf(text)).toEqual([204, 201, 200]);
    expect(await isHeard(title)).toBe(true);
  });

  test.each([
    ['a heartbeat', heartbeat],
    ['a read of the feed', read],
  ])('in the body of %s is only its body', async (_, request) => {
    const title = randomUUID();
    const body = hidden(title);
    const carrying = request(`Content-Length: ${body.length}\r\n`);
    // The first makes the front know how this client asks.
    const { text } = await rawExchange(service.url, [
      request(),
      20,
      carrying + body,
      50,
      request(),
    ]);
    expect(statusesOf(text)[0]).toBe(request === read ? 200 : 204);
    expect(await isHeard(title)).toBe(false);
  });

  test.each([
    ['in chunks', 'Transfer-Encoding: chunked\r\n', '0\r\n\r\n'],
    ['in one chunk', 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'],
  ])('behind a body %s is of no connection any more', async (_, header, body) => {
    const title = randomUUID();
    const { text, closed } = await rawExchange(service.url, [
      heartbeat(header) + body + hidden(title),
    ]);
    expect([statusesOf(text), closed]).toEqual([[204], true]);
    expect(await isHeard(title)).toBe(false);
  });

  const LENGTH = 'Content-Length: 200\r\n';
  const CHUNKED = 'Transfer-Encoding: chunked\r\n';
  test.each([
    ['length, then chunks (CL.TE)', LENGTH + CHUNKED, '0\r\n\r\n'],
    ['chunks, then length (TE.CL)', `${CHUNKED}Content-Length: 5\r\n`, '0\r\n\r\n'],
    [
      'chunks under a name with a space (TE.TE)',
      `Transfer-Encoding : chunked\r\n${LENGTH}`,
      '0\r\n\r\n',
    ],
    ['chunks of another name', `Transfer-Encoding: xchunked\r\n`, '0\r\n\r\n'],
    ['chunks after a folded line', `Transfer-Encoding:\r\n chunked\r\n`, '0\r\n\r\n'],
    ['chunks after a vertical tab', `Transfer-Encoding:\x0bchunked\r\n`, '0\r\n\r\n'],
    ['two lengths', `Content-Length: 0\r\n${LENGTH}`, ''],
    ['two lengths, the other way', `${LENGTH}Content-Length: 0\r\n`, ''],
    ['a length in a list', 'Content-Length: 0, 5\r\n', ''],
    ['a length with a sign', 'Content-Length: +0\r\n', ''],
    ['a length below 0', 'Content-Length: -1\r\n', ''],
    ['a length after NUL', 'X: \0\r\nContent-Length: 0\r\n', ''],
    ['a length on a line that ends by LF', `X: y\n${LENGTH}`, ''],
    ['a length on a line that ends by CR', `X: y\r${LENGTH}`, ''],
    ['a chunk that ends otherwise than it says', CHUNKED, '0\r\nX\r\n'],
  ])('behind %s is refused with it', async (_, header, body) => {
    const title = randomUUID();
    for (const request of [heartbeat, read]) {
      const { text, closed } = await rawExchange(service.url, [
        request() + request(header) + body + hidden(title),
      ]);
      expect([statusesOf(text).length <= 2, closed]).toEqual([true, true]);
      expect(statusesOf(text)).not.toContain(201);
      expect(await isHeard(title)).toBe(false);
    }
  });

  test('never changes what another client hears', async () => {
    const heard = async (n: number) => {
      const answer = await fetch(`${service.url}/nothing`, {
        headers: { 'X-Request-Id': `n-${n}` },
      });
      return answer.headers.get('x-request-id');
    };
    const odd = [
      LENGTH + CHUNKED,
      `Content-Length: 0\r\nContent-Length: 0\r\n`,
      CHUNKED,
      'X : y\r\n',
    ];
    for (let n = 0; n < 40; n++) {
      const attack = rawExchange(
        service.url,
        [heartbeat(odd[n % odd.length]) + `0\r\n\r\n${read('X-Request-Id: evil\r\n')}`.repeat(3)],
        { waitMs: 20 },
      );
      const answers = await Promise.all([heard(3 * n), heard(3 * n + 1), heard(3 * n + 2), attack]);
      expect(answers.slice(0, 3)).toEqual([`n-${3 * n}`, `n-${3 * n + 1}`, `n-${3 * n + 2}`]);
    }
  });
});

test('requests of every kind behind each other are answered in their order, in whatever pieces they come', async () => {
  const time = `GET /api/v1/time HTTP/1.1\r\n${HOST}\r\n`;
  const nothing = `GET /nothing HTTP/1.1\r\n${HOST}\r\n`;
  const all = [heartbeat(), time, read(), nothing, heartbeat(), heartbeat(), time, read()].join('');
  const statuses = [204, 200, 200, 404, 204, 204, 200, 200];
  const whole = await rawExchange(service.url, [all]);
  expect(statusesOf(whole.text)).toEqual(statuses);
  for (const step of [7, 61, 173, 500]) {
    const parts: (string | number)[] = [];
    for (let at = 0; at < all.length; at += step) parts.push(all.slice(at, at + step), 1);
    const { text } = await rawExchange(service.url, parts);
    expect(statusesOf(text)).toEqual(statuses);
  }
});

test('[L-1] who still sends when it is refused hears why, and then the end', async () => {
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

// Linux alone has many addresses of its own without being asked to.
describe.skipIf(process.platform !== 'linux')('[L-11] the address that a limit counts by', () => {
  const LIMIT = { points: 3, durationS: 600 };
  let limited: Harness;
  let stream: string;

  beforeAll(async () => {
    limited = await startService({ config: { rates: { ...PLENTY_OF_ALL, tokens: LIMIT } } });
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
    const [heard] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return statusesOf(heard.toString('latin1'))[0] ?? 0;
  }

  const FORGED = ['127.0.0.9', 's3cret 127.0.0.9', ' , x', 'undefined 127.0.0.9'].map(
    (value) => `X-Fourbeat-Client: ${value}\r\n`,
  );
  test.each([
    ['as the connection has it', '127.0.0.2', ''],
    ['over a connection that closes', '127.0.0.3', 'Connection: close\r\n'],
    ['with a body in chunks', '127.0.0.4', 'Transfer-Encoding: chunked\r\n'],
  ])('is that of the client, %s, whatever it says of itself', async (_, address, headers) => {
    for (let n = 0; n < LIMIT.points; n++) expect(await statusFrom(address, headers)).toBe(200);
    expect(await statusFrom(address, headers)).toBe(429);
    for (const forged of [...FORGED, FORGED.join('')]) {
      expect(await statusFrom(address, forged + headers)).toBe(429);
    }
  });

  test('is not used up by others who name it', async () => {
    const naming = 'X-Fourbeat-Client: 127.0.0.6\r\n';
    for (let n = 0; n < LIMIT.points; n++) expect(await statusFrom('127.0.0.5', naming)).toBe(200);
    expect(await statusFrom('127.0.0.5', naming)).toBe(429);
    expect(await statusFrom('127.0.0.6', '')).toBe(200);
  });
});
