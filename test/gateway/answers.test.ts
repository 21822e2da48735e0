import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { viewerApi } from '../../protocol/viewer-api.ts';
import { EventReader } from '../support/conformance/event-source.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import { rawExchange } from '../support/conformance/raw-http.ts';
import {
  type Harness,
  type ManualClock,
  manualClock,
  START_MS,
  startService,
  type TestViewer,
  viewerWith,
} from '../support/harness/harness.ts';
import { until } from '../support/until.ts';

let harness: Harness;
let clock: ManualClock;
let viewer: TestViewer;
beforeAll(async () => {
  clock = manualClock(START_MS);
  harness = await startService({ clock, config: { rates: HIGH_RATES } });
  await harness.advance(2);
  viewer = await harness.viewer(await harness.createStream());
});
afterAll(() => harness.close());

// The gateway's fast paths must respond as the origin server does. No fast path takes this header.
const TO_ORIGIN = { TE: 'trailers' };

const heartbeat = (of: TestViewer, headers = {}) =>
  of.post(`/api/v1/view-counts/${of.streamId}`, undefined, headers);
const read = (of: TestViewer, interval: number, headers = {}) =>
  of.get(`/api/v1/events-streams/${of.streamId}?interval=${interval}`, headers);
const requestOf = (of: TestViewer, line: string) =>
  `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${of.token}\r\n\r\n`;
const heartbeatLine = (of: TestViewer) => `POST /api/v1/view-counts/${of.streamId}`;
const readLine = (of: TestViewer, interval: number) =>
  `GET /api/v1/events-streams/${of.streamId}?interval=${interval}`;

/** A response without its date. */
async function comparable(response: Response) {
  const headers = Object.fromEntries(response.headers);
  expect(Date.parse(headers.date ?? '')).toBeWithin(Date.now() - 3_000, Date.now() + 1_000);
  delete headers.date;
  return { status: response.status, headers, body: await response.text() };
}

describe('a response of the gateway equals that of the origin server', () => {
  test.each(['*', 'https://app.example'])(
    '[G-2] [G-25] [F-18] to a heartbeat and a feed read, for CORS origin %s',
    async (corsOrigin) => {
      const service = await startService({ config: { corsOrigin, edgeCache: corsOrigin !== '*' } });
      try {
        await service.advance(2);
        const viewer = await service.viewer(await service.createStream());
        const sealed = service.interval() - 1;
        for (const send of [
          (headers: Record<string, string>) => heartbeat(viewer, headers),
          (headers: Record<string, string>) => read(viewer, sealed, headers),
        ]) {
          const fastPath = await comparable(await send({}));
          expect(fastPath.status).toBeOneOf([200, 204]);
          expect(await comparable(await send(TO_ORIGIN))).toEqual(fastPath);
        }
      } finally {
        await service.close();
      }
    },
  );

  test('[F-21] to the request for an event stream', async () => {
    const from = harness.interval() - 1;
    const accept = { Accept: 'text/event-stream' };
    const [fastPath, relayed] = await Promise.all([
      read(viewer, from, accept),
      read(viewer, from, { ...accept, ...TO_ORIGIN }),
    ]);
    const headersOf = (response: Response) => {
      const { date: _, ...headers } = Object.fromEntries(response.headers);
      return headers;
    };
    expect(headersOf(fastPath)).toEqual(headersOf(relayed));
    const readers = [new EventReader(fastPath), new EventReader(relayed)] as const;
    await harness.advance(2);
    const [first, second] = await Promise.all(readers.map((reader) => reader.take(3)));
    expect(first).toHaveLength(3);
    expect(first).toEqual(second as NonNullable<typeof second>);
    for (const reader of readers) await reader.close();
  });

  test('[F-4] to a long poll', async () => {
    const next = harness.interval();
    const sent = [read(viewer, next), read(viewer, next, TO_ORIGIN)];
    await until('both long polls wait', () => harness.service.stats.feed().longPolls === 2);
    await harness.advance(1);
    const [fastPath, relayed] = await Promise.all(sent.map(async (one) => comparable(await one)));
    expect(fastPath?.status).toBe(200);
    expect(fastPath).toEqual(relayed as NonNullable<typeof relayed>);
  });
});

test('[O-12] each response is counted once, whether the gateway or the origin server sends it', async () => {
  const count = (operation: (typeof viewerApi)[keyof typeof viewerApi], status: number) =>
    harness.service.stats.requests.findCounter(operation)?.counts[status] ?? 0;
  const counts = () => [
    count(viewerApi.registerView, 204),
    count(viewerApi.registerView, 401),
    count(viewerApi.readInterval, 200),
  ];
  const before = counts();
  await heartbeat(viewer);
  await heartbeat(viewer, TO_ORIGIN);
  await heartbeat(viewerWith(harness.url, viewer.streamId, 'wrong'));
  await read(viewer, 1);
  await (await read(viewer, 1, { Accept: 'text/event-stream' })).body?.cancel();
  const longPoll = read(viewer, harness.interval());
  await until('the long poll waits', () => harness.service.stats.feed().longPolls === 1);
  await harness.advance(1);
  await longPoll;
  expect(counts().map((value, at) => value - (before[at] as number))).toEqual([2, 1, 3]);
});

// Sends each request in a packet of its own, 20 ms apart. The gateway parses the first two of equal
// requests; the third one matches their template.
const spaced = (...requests: string[]) => requests.flatMap((one) => [one, 20]);

describe('a connection', () => {
  test('gets responses of the gateway and the origin server in the order of its requests', async () => {
    const sealed = harness.interval() - 1;
    const unsealed = harness.interval();
    const sent = [
      requestOf(viewer, heartbeatLine(viewer)),
      requestOf(viewer, 'GET /api/v1/time'),
      requestOf(viewer, readLine(viewer, sealed)),
      requestOf(viewer, readLine(viewer, unsealed)),
      requestOf(viewer, readLine(viewer, 1)),
      requestOf(viewer, 'GET /nothing'),
      requestOf(viewer, heartbeatLine(viewer)),
    ];
    const exchange = rawExchange(harness.url, [sent.join('')], { waitMs: 600 });
    await until('the long poll waits', () => harness.service.stats.feed().longPolls === 1);
    await harness.advance(1);
    const { text } = await exchange;
    expect(text.match(/HTTP\/1\.1 \d+/g)?.map((line) => Number(line.slice(-3)))).toEqual([
      204, 200, 200, 200, 200, 404, 204,
    ]);
    const intervals = [...text.matchAll(/\{"interval":(\d+),"events"/g)].map(([, interval]) =>
      Number(interval),
    );
    expect(intervals).toEqual([sealed, unsealed, 1]);
  });

  test('serves several viewers, each by the token of the request', async () => {
    const stream = await harness.createStream();
    const two = [await harness.viewer(stream), await harness.viewer(stream)] as const;
    const sent = two.map((one) => requestOf(one, heartbeatLine(one)));
    const { text } = await rawExchange(harness.url, spaced(...sent, ...sent), { waitMs: 100 });
    expect(text.match(/HTTP\/1\.1 204/g)).toHaveLength(4);
    const count = await two[0].get(`/api/v1/view-counts/${stream}`);
    expect(await count.json()).toMatchObject({ value: 2 });
  });

  test('[T-13] [T-12] is refused with a wrong token, also after requests with a valid one', async () => {
    const other = await harness.viewer(await harness.createStream());
    const good = requestOf(viewer, heartbeatLine(viewer));
    const wrong = [
      requestOf(viewer, heartbeatLine(other)),
      requestOf(viewer, readLine(other, 1)),
      good.replace(viewer.token, other.token),
      good.replace(viewer.token, `${viewer.token}x`),
      good.replace(viewer.token, viewer.token.slice(0, -1)),
      good.replace(/^Authorization.*\r\n/m, ''),
    ];
    for (const one of wrong) {
      for (const before of [[good], [good, good]]) {
        const { text } = await rawExchange(harness.url, spaced(...before, one), { waitMs: 100 });
        const statuses = [...before.map(() => 'HTTP/1.1 204'), 'HTTP/1.1 401'];
        expect([...(text.match(/HTTP\/1\.1 \d+/g) ?? [])]).toEqual(statuses);
      }
    }
  });

  test('[T-6] is refused when its token has expired', async () => {
    const service = await startService({ clock: manualClock(START_MS) });
    try {
      const expiring = await service.viewer(await service.createStream());
      const sent = requestOf(expiring, heartbeatLine(expiring));
      const exchange = rawExchange(service.url, [sent, 20, sent, 200, sent], { waitMs: 200 });
      await Bun.sleep(100);
      (service.clock as ManualClock).set(START_MS + 600_000); // the lifetime of a token
      const { text } = await exchange;
      const statuses = ['HTTP/1.1 204', 'HTTP/1.1 204', 'HTTP/1.1 401'];
      expect([...(text.match(/HTTP\/1\.1 \d+/g) ?? [])]).toEqual(statuses);
    } finally {
      await service.close();
    }
  });
});

test('[O-11] [F-9] a drain ends long polls with their interval, and refuses new ones with a 503', async () => {
  const draining = await startService({ clock: manualClock(START_MS) });
  await draining.advance(1);
  const polling = await draining.viewer(await draining.createStream());
  const longPoll = read(polling, draining.interval());
  await until('the long poll waits', () => draining.service.stats.feed().longPolls === 1);
  const drained = draining.service.drain();
  const refused = await read(polling, draining.interval());
  expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
  await draining.advance(1);
  expect((await longPoll).status).toBe(200);
  await drained;
  await draining.close();
});

test('[F-25] an event stream whose client reads nothing is closed before it has sent 16 MB', async () => {
  const stream = await harness.createStream();
  const slow = await harness.viewer(stream);
  const before = harness.service.stats.feed().eventStreams;
  const socket = connect(Number(new URL(harness.url).port), '127.0.0.1');
  const text = 'x'.repeat(3_900); // 20 events of an interval have 78 KB.
  const sent = requestOf(slow, readLine(slow, harness.interval()));
  socket.write(sent.replace('Host', 'Accept: text/event-stream\r\nHost'));
  await until('the stream is open', () => harness.service.stats.feed().eventStreams === before + 1);
  socket.pause();
  for (let n = 0; n < 200 && harness.service.stats.feed().eventStreams > before; n++) {
    const events = Array.from({ length: 20 }, () =>
      harness.studio('POST', `/streams/${stream}/events`, { type: 'much', data: { text } }),
    );
    await Promise.all(events);
    await harness.advance(1);
  }
  expect(harness.service.stats.feed().eventStreams).toBe(before);
  socket.destroy();
}, 60_000);
