import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type ListeningServer, listen } from '../../server/gateway/listen.ts';
import { expectNoDefects } from '../support/conformance/expectations.ts';
import { PLENTY_OF_ALL } from '../support/conformance/operations.ts';
import { RawClient } from '../support/gateway/relay-fixture.ts';
import { type Harness, startService, type TestViewer } from '../support/harness/harness.ts';

// The front answers by itself what viewers ask most. Whoever asks must not be able to tell: here is the
// same service once more, behind a front that passes every request on.

let service: Harness;
let passing: ListeningServer;
let viewer: TestViewer;
let stranger: TestViewer;

beforeAll(async () => {
  service = await startService({ config: { rates: PLENTY_OF_ALL } });
  const { routes, fetch, sockets, stats } = service.service;
  passing = listen({
    host: '127.0.0.1',
    port: 0,
    routes,
    fetch,
    sockets,
    corsOrigin: '*',
    log: stats.requests,
  });
  viewer = await service.viewer(await service.createStream());
  stranger = await service.viewer(await service.createStream());
  await service.publishQuiz(viewer.streamId);
  await service.advance(5);
});
afterAll(async () => {
  expectNoDefects(service);
  await passing.stop();
  await service.close();
});

const LAST = 'GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n';

/** A part of a request: as the front knows it, or in another way. */
const part = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(usual) }, fc.constantFrom(...others));

const path = fc.oneof(
  part('/api/v1/view-counts/ID', '/api/v1/view-counts/ID/', '/api/v1/view-counts/OTHER'),
  part('/api/v1/events-streams/ID', '/api/v1/events-streams/ID/', '/api/v1/events-streams/OTHER'),
  fc.constantFrom(
    '/api/v1/view-counts/UPPER',
    '/api/v1/view-counts/%41',
    '//api/v1/view-counts/ID',
  ),
);
const query = part(
  '?interval=NOW',
  '',
  '?',
  '?interval=',
  '?interval=0',
  '?interval=-1',
  '?interval=+5',
  '?interval=0NOW',
  '?interval=NOW&interval=NOW',
  '?interval=NOW&x=y',
  '?x=y&interval=NOW',
  '?Interval=NOW',
  '?interval=NOW#x',
  '?interval=%30',
  '?interval=1e9',
  '?interval=99999999999999999999',
  '?interval=6999999999',
);
const credential = part(
  'Authorization: Bearer TOKEN\r\n',
  'authorization: Bearer TOKEN\r\n',
  'Authorization: bearer TOKEN\r\n',
  'Authorization: Bearer  TOKEN\r\n',
  'Authorization: Bearer TOKEN \r\n',
  'Authorization:Bearer TOKEN\r\n',
  'Authorization : Bearer TOKEN\r\n',
  'Authorization: Bearer TOKENx\r\n',
  'Authorization: Bearer STRANGER\r\n',
  'Authorization: Token TOKEN\r\n',
  'Authorization: Bearer\r\n',
  'Authorization: Bearer TOKEN\r\nAuthorization: Bearer STRANGER\r\n',
  'Authorization: Bearer TOKEN, Bearer STRANGER\r\n',
  'Authorization: Bearer\r\n TOKEN\r\n',
  '',
);
const header = fc.constantFrom(
  'Accept: */*\r\n',
  'Accept: application/json\r\n',
  'Accept: text/html\r\n',
  'Accept: application/json;q=0, text/event-stream;q=0\r\n',
  'Accept:\r\n',
  'Accept: a\r\nAccept: b\r\n',
  'User-Agent: x (y; z)\r\n',
  'Origin: https://example.org\r\n',
  'Content-Type: application/json\r\n',
  'Content-Type: text/plain\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: 2\r\n',
  'Content-Length: 00\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Expect: 100-continue\r\n',
  'If-None-Match: *\r\n',
  'If-None-Match: "x"\r\n',
  'Last-Event-ID: 5\r\n',
  'Range: bytes=0-1\r\n',
  'Connection: close\r\n',
  'Connection: keep-alive\r\n',
  'Connection: Keep-Alive, x\r\n',
  'Upgrade: h2c\r\n',
  'Host: i\r\n',
  'X-Request-Id: me\r\n',
  'X-Forwarded-For: 1.2.3.4\r\n',
  'X: \xff\r\n',
  'X: \x01\r\n',
  'X:y\tz\r\n',
  'X : y\r\n',
  'X\r\n',
  'Cookie: a=b; c=d\r\n',
);
const request = fc
  .record({
    method: part('', 'GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'get'),
    path,
    query,
    version: part('HTTP/1.1', 'HTTP/1.0', 'HTTP/1.2'),
    host: part('Host: h\r\n', '', 'host: h:80\r\n', 'Host:\r\n', 'Host: a b\r\n'),
    credential,
    headers: fc.oneof(fc.constant([]), fc.array(header, { maxLength: 3 })),
  })
  .map(({ method, path, query, version, host, credential, headers }) => {
    const isCount = path.includes('view-counts');
    const usual = isCount ? 'POST' : 'GET';
    const target = isCount && query === '?interval=NOW' ? path : path + query;
    return `${method || usual} ${target} ${version}\r\n${host}${credential}${headers.join('')}\r\n`;
  });

function filled(text: string): string {
  return text
    .replaceAll('NOW', `${service.interval() - 2}`)
    .replaceAll('OTHER', stranger.streamId)
    .replaceAll('UPPER', viewer.streamId.toUpperCase())
    .replaceAll('ID', viewer.streamId)
    .replaceAll('STRANGER', stranger.token)
    .replaceAll('TOKEN', viewer.token);
}

/** All that comes back, but for what differs from one answer to the next. */
async function heard(port: number, sent: string): Promise<string[]> {
  const client = new RawClient(port);
  client.send(sent);
  await client.ends();
  const lines = client.text.replace(/(?:Date|X-Request-Id): .*\r\n/gi, '').split('\r\n');
  const statuses = lines.filter((line) => line.startsWith('HTTP/'));
  return [...statuses, ...lines.toSorted()];
}

test('nobody can tell what the front answers by itself from what it passes on', async () => {
  const { port } = new URL(service.url);
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 4 }), async (requests) => {
      const sent = filled(requests.join('')) + LAST;
      const [bySelf, passed] = await Promise.all([
        heard(Number(port), sent),
        heard(passing.port, sent),
      ]);
      expect({ sent, heard: bySelf }).toEqual({ sent, heard: passed });
      if (bySelf[0]?.includes(' 20')) answered++;
    }),
    { numRuns: 1_000 },
  );
  // Else all were refused, and nothing was compared.
  expect(answered).toBeGreaterThan(100);
}, 60_000);

/** The head of an event stream without what differs, and its messages up to the last sealed interval. */
async function streamed(port: number, sent: string): Promise<string[]> {
  const client = new RawClient(port);
  client.send(sent);
  const last = `id: ${service.interval() - 1}\n`;
  await client.when(() => {
    const { text } = client;
    return text.startsWith('HTTP/1.1 4') || (text.includes(last) && text.endsWith('\n\n\r\n'));
  }, last);
  client.close();
  const [head = '', ...rest] = client.text.split('\r\n\r\n');
  const lines = head.split('\r\n').filter((line) => !/^(?:Date|X-Request-Id):/i.test(line));
  const body = `\r\n${rest.join('\r\n')}`.replace(/(?:\r\n[0-9a-f]+)?\r\n/g, '');
  return [...lines.toSorted(), body];
}

test('nor from what an event stream says of what is sealed', async () => {
  const { port } = new URL(service.url);
  const path = `/api/v1/events-streams/${viewer.streamId}`;
  const from = (back: number) => service.interval() - back;
  const headers = `Host: h\r\nAuthorization: Bearer ${viewer.token}\r\nAccept: text/event-stream\r\n`;
  for (const [target, more] of [
    [`${path}?interval=${from(1)}`, ''],
    [`${path}?interval=${from(4)}`, ''],
    [`${path}/?interval=${from(4)}`, ''],
    [`${path}?interval=${from(5000)}`, ''],
    [`${path}?interval=${from(4)}`, `Last-Event-ID: ${from(3)}\r\n`],
    [path, `Last-Event-ID: ${from(3)}\r\n`],
    [`${path}?interval=${from(4)}`, 'Last-Event-ID: x\r\n'],
    [path, 'Last-Event-ID: -1\r\n'],
    [path, ''],
  ] as const) {
    const sent = `GET ${target} HTTP/1.1\r\n${headers}${more}\r\n`;
    const bySelf = await streamed(Number(port), sent);
    expect([target, more, ...bySelf]).toEqual([
      target,
      more,
      ...(await streamed(passing.port, sent)),
    ]);
  }
});
