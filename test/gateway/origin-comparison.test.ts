import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type ListeningServer, listen } from '../../server/gateway/listen.ts';
import { expectNoDefects } from '../support/conformance/expectations.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import { rounds } from '../support/full-run.ts';
import { RawClient } from '../support/gateway/relay-fixture.ts';
import { type Harness, startService, type TestViewer } from '../support/harness/harness.ts';

// Responses of the gateway and of the origin server must not differ. These tests compare the gateway with a
// second one that relays all requests to the same service.

let service: Harness;
let relayOnly: ListeningServer;
let viewer: TestViewer;
let otherViewer: TestViewer;

beforeAll(async () => {
  service = await startService({ config: { rates: HIGH_RATES } });
  const { routes, fetch, sockets, stats } = service.service;
  const options = { host: '127.0.0.1', port: 0, corsOrigin: '*', log: stats.requests };
  relayOnly = listen({ ...options, routes, fetch, sockets });
  viewer = await service.viewer(await service.createStream());
  otherViewer = await service.viewer(await service.createStream());
  await service.publishQuiz(viewer.streamId);
  await service.advance(5);
});
afterAll(async () => {
  expectNoDefects(service);
  await relayOnly.stop();
  await service.close();
});

/** Ends the connection. */
const LAST = 'GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n';

/** A part of a request: most often `usual`, the form that fast paths take. */
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
    const isHeartbeat = path.includes('view-counts');
    const usual = isHeartbeat ? 'POST' : 'GET';
    const target = isHeartbeat && query === '?interval=NOW' ? path : path + query;
    return `${method || usual} ${target} ${version}\r\n${host}${credential}${headers.join('')}\r\n`;
  });

/** Replaces the words in capitals. */
function fillPlaceholders(text: string): string {
  return text
    .replaceAll('NOW', `${service.interval() - 2}`)
    .replaceAll('OTHER', otherViewer.streamId)
    .replaceAll('UPPER', viewer.streamId.toUpperCase())
    .replaceAll('ID', viewer.streamId)
    .replaceAll('STRANGER', otherViewer.token)
    .replaceAll('TOKEN', viewer.token);
}

/** All responses, as status lines and sorted lines without dates and request ids. */
async function receive(port: number, sent: string): Promise<string[]> {
  const client = new RawClient(port);
  client.send(sent);
  await client.waitForClose();
  const lines = client.text.replace(/(?:Date|X-Request-Id): .*\r\n/gi, '').split('\r\n');
  const statuses = lines.filter((line) => line.startsWith('HTTP/'));
  return [...statuses, ...lines.toSorted()];
}

test('the gateway sends the same responses as the origin server to random requests', async () => {
  const { port } = new URL(service.url);
  let succeeded = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 4 }), async (requests) => {
      const sent = fillPlaceholders(requests.join('')) + LAST;
      const [fastPath, relayed] = await Promise.all([
        receive(Number(port), sent),
        receive(relayOnly.port, sent),
      ]);
      expect({ sent, received: fastPath }).toEqual({ sent, received: relayed });
      if (fastPath[0]?.includes(' 20')) succeeded++;
    }),
    { numRuns: rounds(250, 2_000) },
  );
  // If all requests failed, no fast path was compared.
  expect(succeeded).toBeGreaterThan(50);
}, 60_000);

/** The head of an event stream without date and request id, and its messages up to the last interval. */
async function receiveStream(port: number, sent: string): Promise<string[]> {
  const client = new RawClient(port);
  client.send(sent);
  const last = `id: ${service.interval() - 1}\n`;
  await client.waitFor(() => {
    const { text } = client;
    return text.startsWith('HTTP/1.1 4') || (text.includes(last) && text.endsWith('\n\n\r\n'));
  }, last);
  client.close();
  const [head = '', ...rest] = client.text.split('\r\n\r\n');
  const lines = head.split('\r\n').filter((line) => !/^(?:Date|X-Request-Id):/i.test(line));
  const body = `\r\n${rest.join('\r\n')}`.replace(/(?:\r\n[0-9a-f]+)?\r\n/g, '');
  return [...lines.toSorted(), body];
}

test('the gateway sends the same event streams as the origin server', async () => {
  const { port } = new URL(service.url);
  const path = `/api/v1/events-streams/${viewer.streamId}`;
  const intervalsAgo = (back: number) => service.interval() - back;
  const headers = `Host: h\r\nAuthorization: Bearer ${viewer.token}\r\nAccept: text/event-stream\r\n`;
  for (const [target, more] of [
    [`${path}?interval=${intervalsAgo(1)}`, ''],
    [`${path}?interval=${intervalsAgo(4)}`, ''],
    [`${path}/?interval=${intervalsAgo(4)}`, ''],
    [`${path}?interval=${intervalsAgo(5000)}`, ''],
    [`${path}?interval=${intervalsAgo(4)}`, `Last-Event-ID: ${intervalsAgo(3)}\r\n`],
    [path, `Last-Event-ID: ${intervalsAgo(3)}\r\n`],
    [`${path}?interval=${intervalsAgo(4)}`, 'Last-Event-ID: x\r\n'],
    [path, 'Last-Event-ID: -1\r\n'],
    [path, ''],
  ] as const) {
    const sent = `GET ${target} HTTP/1.1\r\n${headers}${more}\r\n`;
    const fastPath = await receiveStream(Number(port), sent);
    expect([target, more, ...fastPath]).toEqual([
      target,
      more,
      ...(await receiveStream(relayOnly.port, sent)),
    ]);
  }
});
