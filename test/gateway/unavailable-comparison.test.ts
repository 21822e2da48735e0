import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { viewerApi } from '../../protocol/viewer-api.ts';
import { type ListeningServer, listen } from '../../server/gateway/listen.ts';
import type { RequestTemplate } from '../../server/gateway/request-template.ts';
import { Unavailable } from '../../server/platform/errors.ts';
import type { MemoryFeedLog } from '../../server/realtime/feed/feed-log-memory.ts';
import { PLENTY_OF_ALL } from '../support/conformance/operations.ts';
import { RawClient } from '../support/gateway/relay-fixture.ts';
import { type Harness, startService, type TestViewer } from '../support/harness/harness.ts';
import { until } from '../support/until.ts';

// While a backend is unavailable, the front tells 503 by itself. Here is the same service once more, behind a
// front that passes every request on: nobody can tell one from the other.

const ORIGIN = 'https://app.example';

let service: Harness;
let passing: ListeningServer;
let viewer: TestViewer;
let log: MemoryFeedLog;
/** Why nobody can be counted, nor an interval be held. */
let unavailable: string | null = null;
let isDatabaseUnavailable = false;

beforeAll(async () => {
  service = await startService({
    backends: 'embedded',
    config: { rates: PLENTY_OF_ALL, corsOrigin: ORIGIN },
    store: (store) => ({
      ...store,
      readSealed: (input) =>
        isDatabaseUnavailable
          ? Promise.reject(new Unavailable('The database is unavailable.'))
          : store.readSealed(input),
    }),
    realtime: (realtime) => {
      log = realtime.feed as MemoryFeedLog;
      const hold = log.waitFor.bind(log);
      log.waitFor = (...asked) => {
        if (unavailable !== null) throw new Unavailable(unavailable);
        hold(...asked);
      };
      const register: typeof realtime.presence.register = (...asked) => {
        if (unavailable !== null) throw new Unavailable(unavailable);
        realtime.presence.register(...asked);
      };
      return { ...realtime, presence: { ...realtime.presence, register } };
    },
  });
  const { routes, fetch, sockets, stats } = service.service;
  passing = listen({
    ...{ host: '127.0.0.1', port: 0, corsOrigin: ORIGIN, log: stats.requests },
    ...{ routes, fetch, sockets },
  });
  viewer = await service.viewer(await service.createStream());
  await service.advance(400);
});
afterAll(async () => {
  unavailable = null;
  await passing.stop();
  await service.close();
});

const ownPort = () => Number(new URL(service.url).port);
const heartbeat = () => `POST /api/v1/view-counts/${viewer.streamId}`;
const read = (interval: number) =>
  `GET /api/v1/events-streams/${viewer.streamId}?interval=${interval}`;
const requestOf = (line: string, headers: string) =>
  `${line} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${viewer.token}\r\n${headers}\r\n`;

/** Everything that comes back but for its time, and its id if that is made here. */
async function heard(client: RawClient): Promise<string[]> {
  await client.hears('}');
  const [head = '', body = ''] = client.text.split('\r\n\r\n');
  const lines = head
    .replace(/\r\nDate: \w{3}, [^\r]* GMT/, '\r\nDate: now')
    .replace(/X-Request-Id: [0-9a-f]{8}-[0-9a-z]+/, 'X-Request-Id: new')
    .split('\r\n');
  client.close();
  return [lines[0] ?? '', ...lines.slice(1).toSorted(), body];
}

function ask(port: number, line: string, headers: string): RawClient {
  const client = new RawClient(port);
  client.send(requestOf(line, headers));
  return client;
}

const WAYS = [
  '',
  'Accept: */*\r\n',
  'Accept: application/problem+json\r\n',
  'Accept: text/html, Application/Problem+JSON; q=0.5\r\n',
  'Accept: application/problem+json;q=0\r\n',
  'X-Request-Id: mine_1.2-3\r\n',
  'X-Request-Id: not mine\r\n',
  'Accept: application/problem+json\r\nX-Request-Id: mine\r\n',
];
/** Which is odd enough for the front to pass it on. */
const TWO_IDS = 'X-Request-Id: one\r\nX-Request-Id: two\r\n';

/** Counts what comes to the server behind either front. */
function countPassedOn(): { count: number; stop(): void } {
  const { requests } = service.service.stats;
  const { requestId } = requests;
  const stop = () => {
    requests.requestId = requestId;
  };
  const passedOn = { count: 0, stop };
  requests.requestId = (request) => {
    passedOn.count++;
    return requestId.call(requests, request);
  };
  return passedOn;
}

describe('what cannot be done now is told by the front as by the server behind it', () => {
  async function expectAlike(line: string, headers: string, whenAsked = async () => {}) {
    const passedOn = countPassedOn();
    const clients = [ownPort(), passing.port].map((port) => ask(port, line, headers));
    await whenAsked();
    const [own, passed] = await Promise.all(clients.map(heard));
    expect(own?.[0]).toBe('HTTP/1.1 503 Service Unavailable');
    expect(own).toContain('Retry-After: 1');
    expect(own).toEqual(passed as string[]);
    passedOn.stop();
    expect(passedOn.count).toBe(headers === TWO_IDS ? 2 : 1);
  }

  test('[N-9] when it is asked', async () => {
    unavailable = 'Redis is unavailable.';
    for (const headers of [...WAYS, TWO_IDS]) {
      await expectAlike(heartbeat(), headers);
      await expectAlike(read(service.interval()), headers);
    }
    unavailable = null;
  });

  test('[N-9] [F-9] while it is held', async () => {
    const held = () => until('both are held', () => service.service.stats.feed().longPolls === 2);
    for (const headers of WAYS) {
      await expectAlike(read(service.interval()), headers, async () => {
        await held();
        log.failWaiters('Redis is unavailable.');
      });
    }
    await expectAlike(read(service.interval()), '', async () => {
      await held();
      log.failOverdue(service.clock.nowMs() + 1_000);
    });
  });

  test('[R-15] [N-10] when the database does not give it', async () => {
    isDatabaseUnavailable = true;
    for (const headers of WAYS) await expectAlike(read(service.interval() - 380), headers);
    isDatabaseUnavailable = false;
  });
});

test('[O-12] [O-13] each who is told so is counted once, and is in the log', async () => {
  const counter = service.service.stats.requests.findCounter(viewerApi.readInterval);
  const told = () => counter?.counts[503] ?? 0;
  const durations = () => counter?.durations.counts.reduce((sum, count) => sum + count, 0) ?? 0;
  const before = [told(), durations()] as const;
  const logged: unknown[] = [];
  const { requests } = service.service.stats;
  const refused = requests.logRejected.bind(requests);
  requests.logRejected = (...said) => {
    logged.push([said[0].path, said[2], (said[3] as Error).message]);
    refused(...said);
  };
  const one = ask(ownPort(), read(service.interval()), '');
  await until('it is held', () => service.service.stats.feed().longPolls === 1);
  log.failWaiters('Redis is unavailable.');
  unavailable = 'Sealing is stalled.';
  await heard(one);
  await heard(ask(ownPort(), read(service.interval()), ''));
  unavailable = null;
  requests.logRejected = refused;
  expect([told() - before[0], durations() - before[1]]).toEqual([2, 2]);
  const { path } = viewerApi.readInterval;
  expect(logged).toEqual([
    [path, 503, 'Redis is unavailable.'],
    [path, 503, 'Sealing is stalled.'],
  ]);
});

test('[F-9] who sent more requests behind one that is refused has an answer to each', async () => {
  const next = service.interval();
  const client = new RawClient(ownPort());
  const sealed = requestOf(read(next - 1), '');
  client.send(requestOf(read(next), '') + sealed + requestOf(read(next), '') + sealed);
  await until('it is held', () => service.service.stats.feed().longPolls === 1);
  log.failWaiters('Redis is unavailable.');
  await client.when(() => client.text.split('HTTP/1.1').length === 5, 'four answers');
  expect(client.text.match(/HTTP\/1\.1 \d+/g)?.map((line) => line.slice(-3))).toEqual([
    ...['503', '200', '503', '200'],
  ]);
  client.close();
});

test('[G-31] a read that is held keeps nothing of what came behind it', async () => {
  const { waitFor } = log;
  const kept: number[] = [];
  log.waitFor = (streamId, interval, holder) => {
    kept.push((holder as unknown as { template: RequestTemplate }).template.memoryBytes);
    waitFor(streamId, interval, holder);
  };
  const client = new RawClient(ownPort());
  client.send(requestOf(read(service.interval()), '') + 'x'.repeat(400_000));
  await until('it is held', () => kept.length > 0);
  log.waitFor = waitFor;
  log.failWaiters('Redis is unavailable.');
  await client.ends();
  expect(kept[0]).toBeLessThanOrEqual(16 * 1024);
});

/** More would need more files than a process may have open everywhere. */
const CROWD = 4_000;
/** 50 ms on a core of its own. */
const TOLD_MS = 2_000;

test('[N-9] a crowd that is held hears at once that its interval will not come', async () => {
  const request = requestOf(read(service.interval()), '');
  let heardBy = 0;
  const all = Promise.withResolvers<void>();
  const sockets = [];
  const handlers = {
    data: (_: unknown, bytes: Buffer) => {
      if (bytes.toString('latin1', 9, 12) === '503') heardBy++;
      if (heardBy === CROWD) all.resolve();
    },
  };
  for (let one = 0; one < CROWD; one++) {
    const place = { hostname: '127.0.0.1', port: ownPort() };
    const socket = await Bun.connect({ ...place, socket: handlers });
    socket.write(request);
    sockets.push(socket);
  }
  await until('all are held', () => service.service.stats.feed().longPolls === CROWD);
  const passedOn = countPassedOn();
  const startedMs = performance.now();
  log.failWaiters('Redis is unavailable.');
  await all.promise;
  const tookMs = performance.now() - startedMs;
  passedOn.stop();
  for (const socket of sockets) socket.terminate();
  expect(passedOn.count).toBe(0);
  expect(tookMs).toBeLessThan(TOLD_MS);
}, 60_000);
