import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Server } from 'bun';
import fc from 'fast-check';
import {
  RawClient,
  type RelayFixture,
  startRelay,
} from '../../../test/support/gateway/relay-fixture.ts';
import { SMUGGLED, UNUSUAL_REQUESTS } from '../../../test/support/gateway/unusual-requests.ts';
import { until } from '../../../test/support/until.ts';

// Compares the runtime's HTTP server behind the relay with the same server without the relay.

const BIG = Buffer.alloc(1_000_000, 'abcdefghij\r\n\r\n0\r\n\r\n');

let fixture: RelayFixture;
let origin: Server<undefined>;
let direct: Server<undefined>;
let abortedCount = 0;
let smuggledRequests = 0;

const routes = {
  '/echo': async (request: Request) => new Response(await request.bytes()),
  '/length': async (request: Request) => Response.json({ bytes: (await request.bytes()).length }),
  '/unread': () => new Response('unread'),
  '/none': () => new Response(null, { status: 204 }),
  '/same': () => new Response(null, { status: 304, headers: { ETag: '"x"' } }),
  '/big': () => new Response(BIG),
  '/later': async () => {
    await Bun.sleep(1);
    return new Response('later');
  },
  '/stream': () => new Response(streamOf(['one', '\r\n0\r\n\r\n', 'x'.repeat(100_000)])),
  // Paths of the unusual requests and of the request smuggled behind them.
  '/odd': () => new Response('odd'),
  '/hidden': () => {
    smuggledRequests++;
    return new Response('hidden');
  },
  '/closes': () => new Response('closes', { headers: { Connection: 'close' } }),
  '/too-large': () => new Response('no', { status: 413, headers: { Connection: 'close' } }),
  '/waiting': (request: Request) =>
    new Promise<Response>(() => {
      request.signal.addEventListener('abort', () => {
        abortedCount++;
      });
    }),
  '/events': (request: Request) => {
    request.signal.addEventListener('abort', () => {
      abortedCount++;
    });
    return new Response(new ReadableStream({ start: (c) => c.enqueue('data: x\n\n') }));
  },
};

function streamOf(parts: string[]): ReadableStream {
  return new ReadableStream({
    async start(controller) {
      for (const part of parts) {
        controller.enqueue(part);
        await Bun.sleep(0);
      }
      controller.close();
    },
  });
}

beforeAll(() => {
  fixture = startRelay();
  const options = {
    routes,
    fetch: (request: Request, server: Server<undefined>) =>
      server.upgrade(request) ? undefined : new Response('not found', { status: 404 }),
    websocket: {
      message(socket: Bun.ServerWebSocket<undefined>, message: string | Buffer) {
        socket.send(message);
      },
    },
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    development: false,
  };
  origin = Bun.serve({ ...options, unix: fixture.path, idleTimeout: 255 } as never);
  direct = Bun.serve({ ...options, hostname: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  fixture.close();
  await Promise.all([origin.stop(true), direct.stop(true)]);
});

const PATHS = ['/echo', '/length', '/unread', '/none', '/same', '/big', '/later', '/stream', '/?'];
const shortBody = fc.oneof(
  fc.string({ unit: 'binary-ascii', maxLength: 300 }),
  fc.constantFrom('', '0\r\n\r\n', 'GET /none HTTP/1.1\r\nHost: h\r\n\r\n'),
);
const longBody = fc.constant('x'.repeat(200_000));
/** Whether the response may come before the long body is sent; then the connection ends after it (SPEC G-23). */
const mayBeAnsweredEarly = (request: string) =>
  request.includes('x'.repeat(200_000)) && !/^[A-Z]+ \/(?:echo|length) /.test(request);
/** Requests that can share an origin connection. */
const unambiguous = (body: fc.Arbitrary<string>) =>
  fc
    .record({
      method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'),
      path: fc.constantFrom(...PATHS),
      headers: fc.constantFrom(
        '',
        'Connection: keep-alive\r\n',
        'X: \xff\r\nconnection:Keep-Alive\r\n',
      ),
      body,
    })
    .map(({ method, path, headers, body }) => {
      const head = `${method} ${path} HTTP/1.1\r\nHost: h\r\n${headers}`;
      const hasNoBody = method === 'GET' || method === 'HEAD';
      return hasNoBody ? `${head}\r\n` : `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
    });
const chunked = (body: fc.Arbitrary<string>) =>
  fc
    .array(
      body.filter((text) => text !== ''),
      { maxLength: 4 },
    )
    .map((parts) => parts.map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join(''))
    .map(
      (chunks) =>
        `POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
    );
const closing = fc.constantFrom(
  'GET /big HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n',
  'GET /stream HTTP/1.0\r\n\r\n',
  'GET /closes HTTP/1.1\r\nHost: h\r\n\r\n',
  'HEAD /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n',
  'POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi',
  'GET /none HTTP/1.1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n',
);

/** Pipelined requests, the last of which ends the connection. Pipelined data is limited (SPEC G-31). */
const sequence = fc.oneof(
  fc.tuple(
    fc.array(unambiguous(shortBody), { maxLength: 5 }),
    fc.oneof(chunked(shortBody), closing),
  ),
  fc.tuple(fc.array(unambiguous(longBody), { minLength: 1, maxLength: 1 }), closing),
  fc.tuple(fc.constant([]), chunked(fc.oneof(shortBody, longBody))),
);

/** The responses without the relay, to each request on a connection of its own. */
async function responsesWithoutRelay(requests: string[]): Promise<string> {
  let text = '';
  for (const request of requests) {
    const client = new RawClient(direct.port ?? 0);
    client.send(request);
    await client.waitFor(() => isComplete(client.text, request) || client.isClosed, 'the answer');
    client.close();
    text += client.text;
  }
  return comparable(text);
}

// Whether a response is complete. Recognizes only the forms that the routes above send.
function isComplete(text: string, request: string): boolean {
  const head = /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?(HTTP[\s\S]*?\r\n\r\n)/.exec(text);
  if (!head?.[1]) return false;
  if (request.startsWith('HEAD') || / (?:204|304) /.test(head[1])) return true;
  const length = /\r\nContent-Length: (\d+)/i.exec(head[1])?.[1];
  if (length) return text.length === head[0].length + Number(length);
  return /\r\nTransfer-Encoding: chunked/i.test(head[1]) && text.endsWith('x\r\n0\r\n\r\n');
}

/** Responses without the headers that may differ. */
function comparable(text: string): string {
  return text.replace(/Date: .*\r\n|Connection: close\r\n/g, '');
}

/** The first difference of two long texts, for the failure message; null when they are equal. */
function differenceOf(text: string, expected: string): string[] | null {
  if (text === expected) return null;
  let at = 0;
  while (text[at] === expected[at]) at++;
  return [text, expected].map(
    (each) => `${at} of ${each.length}: ${each.slice(at - 200, at + 200)}`,
  );
}

test('the relay changes no response, however its requests are split', async () => {
  const pieces = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sequence, pieces, async ([requests, last], cuts) => {
      const expected = await responsesWithoutRelay([...requests, last]);
      const client = new RawClient(fixture.port);
      const sent = requests.join('') + last;
      const offsets = cuts.map((cut) => Math.floor(cut * sent.length)).sort((a, b) => a - b);
      for (const [n, offset] of [0, ...offsets].entries()) {
        client.send(sent.slice(offset, offsets[n] ?? sent.length));
        if (n % 3 > 0) await Bun.sleep(n % 2);
      }
      await client.waitForClose();
      const received = comparable(client.text);
      const [first] = requests;
      const endsEarly = first && mayBeAnsweredEarly(first) && received.length < expected.length;
      const responses = endsEarly ? await responsesWithoutRelay([first]) : expected;
      expect(differenceOf(received, responses)).toBeNull();
    }),
    { numRuns: 150 },
  );
  expect(fixture.relay.pendingRequests()).toBe(0);
}, 60_000);

test.each(UNUSUAL_REQUESTS)(
  'the origin server does not handle a request that is smuggled after one with %s',
  async (_, unusual) => {
    smuggledRequests = 0;
    const client = new RawClient(fixture.port);
    client.send(unusual);
    await client.waitForClose();
    // When the origin server responds to another request, it has read all earlier bytes.
    const other = new RawClient(fixture.port);
    other.send(SMUGGLED);
    await other.receives('hidden');
    other.close();
    expect(smuggledRequests).toBe(1);
  },
);

test('fetch with keep-alive connections works through the relay', async () => {
  const url = `http://127.0.0.1:${fixture.port}`;
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const answer = await fetch(`${url}/echo`, { method: 'POST', body: `body ${n}` });
      return answer.text();
    }),
  );
  expect(answers).toEqual(Array.from({ length: 200 }, (_, n) => `body ${n}`));
  expect(Buffer.from(await (await fetch(`${url}/big`)).bytes()).equals(BIG)).toBe(true);
});

test('a WebSocket works through the relay, with large messages and a clean close', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${fixture.port}/socket`);
  const received: string[] = [];
  socket.onmessage = ({ data }) => received.push(data);
  await new Promise((resolve) => {
    socket.onopen = resolve;
  });
  expect(fixture.relay.pendingRequests()).toBe(0);
  const large = 'x'.repeat(1_000_000);
  socket.send('hello');
  await until('the first message is echoed', () => received.length === 1);
  for (const message of [large, 'bye']) socket.send(message);
  await until('all messages are echoed', () => received.length === 3);
  expect(received).toEqual(['hello', large, 'bye']);
  for (let second = 0; second < 100; second++) fixture.relay.tick();
  const closed = new Promise<CloseEvent>((resolve) => {
    socket.onclose = resolve;
  });
  socket.close(1000, 'done');
  expect((await closed).code).toBe(1000);
});

test('[M-4] a WebSocket ends when it sends more than 16 KB before the server has sent a message', async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${fixture.port}/socket`);
  const closed = new Promise<CloseEvent>((resolve) => {
    socket.onclose = resolve;
  });
  socket.onopen = () => socket.send('x'.repeat(1_000_000));
  expect((await closed).wasClean).toBe(false);
});

test.each(['/waiting', '/events'])(
  'the request to %s is aborted when its client disconnects',
  async (path) => {
    abortedCount = 0;
    const client = new RawClient(fixture.port);
    client.send(`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`);
    await until('the request arrives', () => origin.pendingRequests > 0);
    if (path === '/events') await client.receives('data: x');
    client.close();
    await until('the request is aborted', () => abortedCount === 1);
    await until('no request is pending', () => origin.pendingRequests === 0);
  },
);

test('clients that disconnect at random leave no request or WebSocket pending', async () => {
  const requests = [
    'GET /big HTTP/1.1\r\nHost: h\r\n\r\n',
    'GET /big HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n',
    'GET /waiting HTTP/1.1\r\nHost: h\r\n\r\n',
    'GET /events HTTP/1.1\r\nHost: h\r\n\r\n',
    'GET /later HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(3),
    `POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\n\r\n${'x'.repeat(1_900_000)}`,
    `POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n${'x'.repeat(100_000)}`,
    'GET /socket HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  ];
  const visit = fc.record({
    request: fc.constantFrom(...requests),
    pausedMs: fc.nat(5),
    connectedMs: fc.nat(20),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(visit, { minLength: 20, maxLength: 60 }), async (visits) => {
      await Promise.all(
        visits.map(async ({ request, pausedMs, connectedMs }) => {
          const client = new RawClient(fixture.port);
          client.send(request);
          client.pause();
          await Bun.sleep(pausedMs);
          client.resume();
          await Bun.sleep(connectedMs);
          client.close();
        }),
      );
    }),
    { numRuns: 10 },
  );
  await until(
    'no request is pending',
    () => fixture.relay.pendingRequests() + origin.pendingRequests + origin.pendingWebSockets === 0,
  );
});

test('a body of 500 MB that the origin server does not read takes less than 150 MB of memory', async () => {
  const chunk = Buffer.alloc(1_000_000);
  const rssBefore = process.memoryUsage.rss();
  let rssMax = rssBefore;
  for (const path of ['/too-large', '/unread']) {
    const client = new RawClient(fixture.port);
    client.send(`POST ${path} HTTP/1.1\r\nHost: h\r\nContent-Length: 500000000\r\n\r\n`);
    for (let sentMb = 0; sentMb < 500 && !client.isClosed; sentMb++) {
      client.send(chunk);
      await client.waitFor(() => client.unsentBytes < 4_000_000 || client.isClosed, 'sent data');
      rssMax = Math.max(rssMax, process.memoryUsage.rss());
    }
    if (path === '/unread') await client.receives('unread');
    client.close();
  }
  expect(rssMax - rssBefore).toBeLessThan(150_000_000);
}, 60_000);
