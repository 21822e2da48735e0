import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { viewerApi } from '../../protocol/viewer-api.ts';
import { type ListeningServer, listen } from '../../server/gateway/listen.ts';
import type { RequestTemplate } from '../../server/gateway/viewer-request.ts';
import { Unavailable } from '../../server/platform/errors.ts';
import type { MemoryFeedLog } from '../../server/realtime/feed/feed-log-memory.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import { RawClient } from '../support/gateway/relay-fixture.ts';
import { type Harness, startService, type TestViewer } from '../support/harness/harness.ts';
import { until } from '../support/until.ts';

// While a backend is unavailable, the gateway sends 503 responses itself. These tests compare them with
// those of a second gateway that relays all requests to the same service.

const ORIGIN = 'https://app.example';

let service: Harness;
let relayOnly: ListeningServer;
let viewer: TestViewer;
let log: MemoryFeedLog;
/** Why heartbeats and long polls fail; null: they do not. */
let unavailableReason: string | null = null;
let isDatabaseUnavailable = false;

beforeAll(async () => {
  service = await startService({
    backends: 'embedded',
    config: { rates: HIGH_RATES, corsOrigin: ORIGIN },
    store: (store) => ({
      ...store,
      readSealed: (input) =>
        isDatabaseUnavailable
          ? Promise.reject(new Unavailable('The database is unavailable.'))
          : store.readSealed(input),
    }),
    realtime: (realtime) => {
      log = realtime.feed as MemoryFeedLog;
      const waitFor = log.waitFor.bind(log);
      log.waitFor = (...args) => {
        if (unavailableReason !== null) throw new Unavailable(unavailableReason);
        waitFor(...args);
      };
      const register: typeof realtime.presence.register = (...args) => {
        if (unavailableReason !== null) throw new Unavailable(unavailableReason);
        realtime.presence.register(...args);
      };
      return { ...realtime, presence: { ...realtime.presence, register } };
    },
  });
  const { routes, fetch, sockets, stats } = service.service;
  const options = { host: '127.0.0.1', port: 0, corsOrigin: ORIGIN, log: stats.requests };
  relayOnly = listen({ ...options, routes, fetch, sockets });
  viewer = await service.viewer(await service.createStream());
  await service.advance(400);
});
afterAll(async () => {
  unavailableReason = null;
  await relayOnly.stop();
  await service.close();
});

const gatewayPort = () => Number(new URL(service.url).port);
const heartbeat = () => `POST /api/v1/view-counts/${viewer.streamId}`;
const read = (interval: number) =>
  `GET /api/v1/events-streams/${viewer.streamId}?interval=${interval}`;
const requestOf = (line: string, headers: string) =>
  `${line} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${viewer.token}\r\n${headers}\r\n`;

/** The response without its date and without a generated request id, as sorted lines. */
async function receive(client: RawClient): Promise<string[]> {
  await client.receives('}');
  const [head = '', body = ''] = client.text.split('\r\n\r\n');
  const lines = head
    .replace(/\r\nDate: \w{3}, [^\r]* GMT/, '\r\nDate: now')
    .replace(/X-Request-Id: [0-9a-f]{8}-[0-9a-z]+/, 'X-Request-Id: new')
    .split('\r\n');
  client.close();
  return [lines[0] ?? '', ...lines.slice(1).toSorted(), body];
}

function send(port: number, line: string, headers: string): RawClient {
  const client = new RawClient(port);
  client.send(requestOf(line, headers));
  return client;
}

const ERROR_PREFERENCES = [
  '',
  'Accept: */*\r\n',
  'Accept: application/problem+json\r\n',
  'Accept: text/html, Application/Problem+JSON; q=0.5\r\n',
  'Accept: application/problem+json;q=0\r\n',
  'X-Request-Id: mine_1.2-3\r\n',
  'X-Request-Id: not mine\r\n',
  'Accept: application/problem+json\r\nX-Request-Id: mine\r\n',
];
/** The gateway relays a request with two ids. */
const TWO_IDS = 'X-Request-Id: one\r\nX-Request-Id: two\r\n';

/** Counts the requests that reach the origin server. */
function countRelayed(): { count: number; stop(): void } {
  const { requests } = service.service.stats;
  const { requestId } = requests;
  const stop = () => {
    requests.requestId = requestId;
  };
  const relayedRequests = { count: 0, stop };
  requests.requestId = (request) => {
    relayedRequests.count++;
    return requestId.call(requests, request);
  };
  return relayedRequests;
}

describe('the gateway sends the same 503 as the origin server', () => {
  async function expectEqual(line: string, headers: string, whenSent = async () => {}) {
    const relayedRequests = countRelayed();
    const clients = [gatewayPort(), relayOnly.port].map((port) => send(port, line, headers));
    await whenSent();
    const [fastPath, relayed] = await Promise.all(clients.map(receive));
    expect(fastPath?.[0]).toBe('HTTP/1.1 503 Service Unavailable');
    expect(fastPath).toContain('Retry-After: 1');
    expect(fastPath).toEqual(relayed as string[]);
    relayedRequests.stop();
    // One is relayed by the second gateway in any case.
    expect(relayedRequests.count).toBe(headers === TWO_IDS ? 2 : 1);
  }

  test('[N-9] for a new request', async () => {
    unavailableReason = 'Redis is unavailable.';
    for (const headers of [...ERROR_PREFERENCES, TWO_IDS]) {
      await expectEqual(heartbeat(), headers);
      await expectEqual(read(service.interval()), headers);
    }
    unavailableReason = null;
  });

  test('[N-9] [F-9] for a long poll', async () => {
    const bothWait = () =>
      until('both long polls wait', () => service.service.stats.feed().longPolls === 2);
    for (const headers of ERROR_PREFERENCES) {
      await expectEqual(read(service.interval()), headers, async () => {
        await bothWait();
        log.failWaiters('Redis is unavailable.');
      });
    }
    await expectEqual(read(service.interval()), '', async () => {
      await bothWait();
      log.failOverdue(service.clock.nowMs() + 1_000);
    });
  });

  test('[R-15] [N-10] for a read when the database is unavailable', async () => {
    isDatabaseUnavailable = true;
    for (const headers of ERROR_PREFERENCES)
      await expectEqual(read(service.interval() - 380), headers);
    isDatabaseUnavailable = false;
  });
});

test('[O-12] [O-13] each 503 of the gateway is counted and logged once', async () => {
  const counter = service.service.stats.requests.findCounter(viewerApi.readInterval);
  const failed = () => counter?.counts[503] ?? 0;
  const durations = () => counter?.durations.counts.reduce((sum, count) => sum + count, 0) ?? 0;
  const before = [failed(), durations()] as const;
  const logged: unknown[] = [];
  const { requests } = service.service.stats;
  const logRejected = requests.logRejected.bind(requests);
  requests.logRejected = (...entry) => {
    logged.push([entry[0].path, entry[2], (entry[3] as Error).message]);
    logRejected(...entry);
  };
  const one = send(gatewayPort(), read(service.interval()), '');
  await until('the long poll waits', () => service.service.stats.feed().longPolls === 1);
  log.failWaiters('Redis is unavailable.');
  unavailableReason = 'Sealing is stalled.';
  await receive(one);
  await receive(send(gatewayPort(), read(service.interval()), ''));
  unavailableReason = null;
  requests.logRejected = logRejected;
  expect([failed() - before[0], durations() - before[1]]).toEqual([2, 2]);
  const { path } = viewerApi.readInterval;
  expect(logged).toEqual([
    [path, 503, 'Redis is unavailable.'],
    [path, 503, 'Sealing is stalled.'],
  ]);
});

test('[F-9] requests behind a failed long poll get their responses', async () => {
  const next = service.interval();
  const client = new RawClient(gatewayPort());
  const sealed = requestOf(read(next - 1), '');
  client.send(requestOf(read(next), '') + sealed + requestOf(read(next), '') + sealed);
  await until('the long poll waits', () => service.service.stats.feed().longPolls === 1);
  log.failWaiters('Redis is unavailable.');
  await client.waitFor(() => client.text.split('HTTP/1.1').length === 5, 'four answers');
  const statuses = client.text.match(/HTTP\/1\.1 \d+/g)?.map((line) => line.slice(-3));
  expect(statuses).toEqual(['503', '200', '503', '200']);
  client.close();
});

test('[G-31] a long poll keeps at most 16 KB in memory, when 400 KB follow it', async () => {
  const { waitFor } = log;
  const keptBytes: number[] = [];
  log.waitFor = (streamId, interval, waiter) => {
    keptBytes.push((waiter as unknown as { template: RequestTemplate }).template.memoryBytes);
    waitFor(streamId, interval, waiter);
  };
  const client = new RawClient(gatewayPort());
  client.send(requestOf(read(service.interval()), '') + 'x'.repeat(400_000));
  await until('the long poll waits', () => keptBytes.length > 0);
  log.waitFor = waitFor;
  log.failWaiters('Redis is unavailable.');
  await client.waitForClose();
  expect(keptBytes[0]).toBeLessThanOrEqual(16 * 1024);
});

/** Below the number of files that a process may open. */
const CLIENTS = 4_000;
/** All responses take 50 ms on an idle core. */
const TIMEOUT_MS = 2_000;

test('[N-9] 4,000 long polls get a 503 from the gateway within 2 s when a backend becomes unavailable', async () => {
  const request = requestOf(read(service.interval()), '');
  let receivedCount = 0;
  const allReceived = Promise.withResolvers<void>();
  const sockets = [];
  const handlers = {
    data: (_: unknown, bytes: Buffer) => {
      if (bytes.toString('latin1', 9, 12) === '503') receivedCount++;
      if (receivedCount === CLIENTS) allReceived.resolve();
    },
  };
  for (let n = 0; n < CLIENTS; n++) {
    const target = { hostname: '127.0.0.1', port: gatewayPort() };
    const socket = await Bun.connect({ ...target, socket: handlers });
    socket.write(request);
    sockets.push(socket);
  }
  await until('all long polls wait', () => service.service.stats.feed().longPolls === CLIENTS);
  const relayedRequests = countRelayed();
  const startedMs = performance.now();
  log.failWaiters('Redis is unavailable.');
  await allReceived.promise;
  const elapsedMs = performance.now() - startedMs;
  relayedRequests.stop();
  for (const socket of sockets) socket.terminate();
  expect(relayedRequests.count).toBe(0);
  expect(elapsedMs).toBeLessThan(TIMEOUT_MS);
}, 60_000);
