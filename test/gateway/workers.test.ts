import { afterAll, beforeAll, expect, test } from 'bun:test';
import { decodeJwt } from 'jose';
import { Connections } from '../../crowd/connections.ts';
import { EventReader } from '../support/conformance/event-source.ts';
import { expectJson, newViewer, type TestViewer } from '../support/harness/harness.ts';
import {
  fourbeat,
  killServers,
  type ServerProcess,
  serveProcess,
  temporaryFolder,
} from '../support/harness/program.ts';
import { until } from '../support/until.ts';

// The program with three worker threads. The kernel distributes connections over the workers: 24 are enough
// for each worker to get some.

const THREADS = 3;
const CONNECTIONS = 24;

const folder = temporaryFolder();
const data = folder.path('data');
let server: ServerProcess;
let apiToken: string;
let connections: Connections[];

beforeAll(async () => {
  await start();
  const account = await fourbeat([
    ...['account', 'create', '--data', data],
    ...['--email', 'ann@example.org', '--name', 'Ann'],
  ]);
  apiToken = JSON.parse(account.stdout).token;
});

afterAll(async () => {
  await killServers();
  folder.remove();
});

async function start(): Promise<void> {
  server = await serveProcess([
    ...['--data', data, '--workers', String(THREADS), '--rate-studio', '100000/60'],
    ...['--rtmp-port', 'off', '--srt-port', 'off'],
  ]);
  const target = { hostname: '127.0.0.1', port: server.port };
  connections = Array.from({ length: CONNECTIONS }, () => new Connections(target));
}

const connection = (index: number) => connections[index % CONNECTIONS] as Connections;

async function studio<T>(method: string, path: string, body?: object, status = 201): Promise<T> {
  const response = await fetch(`${server.url}/studio/v1${path}`, {
    method,
    headers: { Authorization: `Token ${apiToken}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return expectJson<T>(response, status);
}

const createStream = async () =>
  (await studio<{ id: string }>('POST', '/streams', { title: 'A' })).id;

const viewerOf = (streamId: string, identifier: string) =>
  newViewer(server.url, streamId, identifier);

const bearer = ({ token }: TestViewer) => `Authorization: Bearer ${token}\r\n`;

/** Sends a heartbeat. @param index of the connection, as below @returns the status */
async function heartbeat(viewer: TestViewer, index: number): Promise<number> {
  const path = `/api/v1/view-counts/${viewer.streamId}`;
  return (await connection(index).request('POST', path, bearer(viewer))).status;
}

async function countOf(viewer: TestViewer, index: number): Promise<number> {
  const path = `/api/v1/view-counts/${viewer.streamId}`;
  const { body } = await connection(index).request('GET', path, bearer(viewer));
  return JSON.parse(new TextDecoder().decode(body)).value;
}

async function read(viewer: TestViewer, interval: number, index: number): Promise<string> {
  const path = `/api/v1/events-streams/${viewer.streamId}?interval=${interval}`;
  const { status, body } = await connection(index).request('GET', path, bearer(viewer));
  return `${status} ${new TextDecoder().decode(body)}`;
}

async function currentInterval(): Promise<number> {
  const response = await fetch(`${server.url}/api/v1/time`);
  return (await expectJson<{ interval: number }>(response, 200)).interval;
}

const onEveryConnection = <T>(work: (index: number) => Promise<T>) =>
  Promise.all(connections.map((_, index) => work(index)));

test('[V-6] [V-5] a count includes each acknowledged seat once, whichever worker registered it', async () => {
  const streamId = await createStream();
  const viewers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => viewerOf(streamId, `viewer ${index}`)),
  );
  for (const [index, viewer] of viewers.entries()) {
    // Several tabs at once, so that different workers register the same seat.
    const tabs = Array.from({ length: 4 }, (_, tab) => heartbeat(viewer, index + tab * 5));
    expect(await Promise.all(tabs)).toEqual([204, 204, 204, 204]);
    // They keep the earlier viewers counted.
    const others = viewers.slice(0, index).map((other, at) => heartbeat(other, index + at));
    expect(await countOf(viewer, index * 7)).toBe(index + 1);
    await Promise.all(others);
  }
});

test('[O-22] [I-5] [V-4] viewers that move between workers are counted exactly, and expire after a second', async () => {
  const streamId = await createStream();
  const crowd = await Promise.all(
    Array.from({ length: 100 }, (_, index) => viewerOf(streamId, `viewer ${index}`)),
  );
  for (let round = 0; round < 6; round += 1) {
    await Promise.all(crowd.map((viewer, index) => heartbeat(viewer, index + round)));
    expect(await countOf(crowd[0] as TestViewer, round)).toBe(100);
    await Bun.sleep(400);
  }
  await Bun.sleep(1_300);
  expect(await countOf(crowd[0] as TestViewer, 0)).toBe(0);
});

test('[O-22] [I-1] [F-21] an interval has the same bytes in all workers, for long polls, reads and streams', async () => {
  const streamId = await createStream();
  const viewer = await viewerOf(streamId, 'reader');
  await onEveryConnection((index) => heartbeat(viewer, index));
  const first = (await currentInterval()) + 1;
  const streams = await Promise.all(
    Array.from({ length: 8 }, () =>
      viewer.get(`/api/v1/events-streams/${streamId}?interval=${first}`, {
        Accept: 'text/event-stream',
      }),
    ),
  );
  for (let interval = first; interval < first + 6; interval += 1) {
    const longPolls = await onEveryConnection((index) => read(viewer, interval, index));
    const sealed = await onEveryConnection((index) => read(viewer, interval, index));
    expect(new Set([...longPolls, ...sealed]).size).toBe(1);
    expect(longPolls[0]).toStartWith(`200 {"interval":${interval},"events":[`);
  }
  const messages = await Promise.all(
    streams.map(async (response) => {
      const reader = new EventReader(response);
      const taken = await reader.take(6);
      await reader.close();
      return taken.map(({ data }) => data).join('\n');
    }),
  );
  expect(new Set(messages).size).toBe(1);
  // View counts are published although only workers read the stream.
  expect(messages[0]).toContain('"type":"view-count"');
});

test('[C-19] [C-21] all workers refuse a banned viewer within a second, and do not count them', async () => {
  const streamId = await createStream();
  const [banned, other] = await Promise.all([viewerOf(streamId, 'ada'), viewerOf(streamId, 'bob')]);
  await onEveryConnection((index) => heartbeat(banned, index));
  await heartbeat(other, 0);
  const stream = await banned.get(
    `/api/v1/events-streams/${streamId}?interval=${(await currentInterval()) + 1}`,
    { Accept: 'text/event-stream' },
  );
  const { sub } = decodeJwt(banned.token);
  await studio('POST', `/streams/${streamId}/banned/${sub}`, { name: 'Ada' });
  const bannedMs = performance.now();
  await until('all workers refuse', async () => {
    const statuses = await onEveryConnection((index) => heartbeat(banned, index));
    return statuses.every((status) => status === 401);
  });
  expect(performance.now() - bannedMs).toBeLessThan(1_000);
  await onEveryConnection((index) => heartbeat(other, index));
  expect(await countOf(other, 1)).toBe(1);
  const reader = new EventReader(stream);
  while (await reader.next(1_000)); // until the stream ends
  expect(await read(banned, (await currentInterval()) - 1, 5)).toStartWith('401');
  const unbanned = await fetch(`${server.url}/studio/v1/streams/${streamId}/banned/${sub}`, {
    method: 'DELETE',
    headers: { Authorization: `Token ${apiToken}` },
  });
  expect(unbanned.status).toBe(204);
  await until('all workers admit the viewer again', async () => {
    const statuses = await onEveryConnection((index) => heartbeat(banned, index));
    return statuses.every((status) => status === 204);
  });
});

test('[O-12] responses of all workers are counted once', async () => {
  const streamId = await createStream();
  const viewer = await viewerOf(streamId, 'meter');
  // Workers report their counts four times a second.
  await Bun.sleep(600);
  const before = await heartbeatsCounted();
  for (let round = 0; round < 5; round += 1)
    await onEveryConnection((index) => heartbeat(viewer, index));
  const expected = before + 5 * CONNECTIONS;
  await until('all are counted', async () => (await heartbeatsCounted()) >= expected);
  expect(await heartbeatsCounted()).toBe(expected);
});

async function heartbeatsCounted(): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const line =
    /^fourbeat_requests_total\{method="POST",path="\/api\/v1\/view-counts\/\{stream_id\}",status="204"\} (\d+)$/m;
  return Number(line.exec(text)?.[1] ?? 0);
}

test('[O-8] a service does not start on a port on which another service has workers', async () => {
  const ended = await fourbeat([
    ...['serve', '--data', folder.path('other'), '--host', '127.0.0.1', '--workers', '2'],
    ...['--port', String(server.port), '--rtmp-port', 'off', '--srt-port', 'off'],
  ]);
  expect(ended.status).not.toBe(0);
  expect(ended.stderr).toContain(`port ${server.port} is in use`);
});

test('[R-17] [I-1] after a kill -9 all workers serve the same intervals, and count from 0', async () => {
  const streamId = await createStream();
  const viewer = await viewerOf(streamId, 'survivor');
  await onEveryConnection((index) => heartbeat(viewer, index));
  const interval = await currentInterval();
  const served = await onEveryConnection((index) => read(viewer, interval, index));
  server.signal('SIGKILL');
  await server.exited;
  const { port } = server;
  await start();
  // The issuer of tokens contains the port.
  const again = port === server.port ? viewer : await viewerOf(streamId, 'survivor');
  const after = await onEveryConnection((index) => read(again, interval, index));
  expect(new Set([...served, ...after]).size).toBe(1);
  expect(await countOf(again, 3)).toBe(0);
  await heartbeat(again, 4);
  expect(await countOf(again, 5)).toBe(1);
});

test('[O-11] a drain completes the long polls of all workers, ends streams, and exits with 0', async () => {
  const streamId = await createStream();
  const viewer = await viewerOf(streamId, 'last');
  const interval = (await currentInterval()) + 3;
  const longPolls = onEveryConnection((index) => read(viewer, interval, index));
  const stream = await viewer.get(`/api/v1/events-streams/${streamId}?interval=${interval - 2}`, {
    Accept: 'text/event-stream',
  });
  await Bun.sleep(100);
  server.signal('SIGTERM');
  const bodies = await longPolls;
  expect(new Set(bodies).size).toBe(1);
  expect(bodies[0]).toStartWith('200');
  const reader = new EventReader(stream);
  while (await reader.next(2_000)); // until the stream ends
  expect(await server.exited).toBe(0);
  expect(server.log()).toContain('"msg":"stopped"');
});
