import { expect, test } from 'bun:test';
import type { BunRequest } from 'bun';
import { intervalStartMs } from '../../../protocol/interval.ts';
import type { Credentials } from '../../auth/credentials.ts';
import type { Route } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { FeedLog, ReadClient } from './feed-log.ts';
import { feedHandlers } from './feed-routes.ts';
import { OpenStreams } from './open-streams.ts';

const BYTES = 4_000_000;
const RESPONSES = 100;
const GROWTH_BYTES_MAX = 100_000_000;
const INTERVAL = 7_000_000_000;

const body = new Uint8Array(BYTES).fill(1);
const clock: Clock = { nowMs: () => intervalStartMs(INTERVAL + 1) };
const viewer = { streamId: 's', seat: 0 };
const { readInterval } = feedHandlers({
  log: { read: () => body } as unknown as FeedLog,
  clock,
  credentials: { viewer: () => viewer } as unknown as Credentials,
  streams: new OpenStreams(clock.nowMs),
  edgeCache: false,
});
const route = { headers: {}, jsonHeaders: { 'Content-Type': 'application/json' } };

function respond(): Response | Promise<Response> {
  const request = new Request(`http://h/api/v1/events-streams/s?interval=${INTERVAL}`);
  const params = { stream_id: 's' };
  return readInterval(
    Object.assign(request, { params }) as unknown as BunRequest<string>,
    route as unknown as Route,
  );
}

test('[F-3] responses with an interval share its bytes until they are read', async () => {
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  const unread = await Promise.all(Array.from({ length: RESPONSES }, respond));
  expect(process.memoryUsage().rss - before).toBeLessThan(GROWTH_BYTES_MAX);
  const [first] = unread;
  expect(first?.headers.get('content-type')).toBe('application/json');
  expect(await first?.bytes()).toEqual(body);
});

test('[F-3] [L-11] reads of old intervals and event streams count for their client', async () => {
  const readers: (string | null | undefined)[] = [];
  const log = {
    watermark: () => INTERVAL,
    read: async (_streamId: string, _interval: number, client?: ReadClient) => {
      readers.push(client?.());
      return new Uint8Array();
    },
    range: async (_streamId: string, _from: number, to: number, client?: ReadClient) => {
      readers.push(client?.());
      return { page: [], next: to + 1 };
    },
    subscribe: () => () => {},
  };
  const handlers = feedHandlers({
    log: log as unknown as FeedLog,
    clock,
    credentials: {
      viewer: () => ({ ...viewer, expiresMs: clock.nowMs() + 1_000 }),
    } as unknown as Credentials,
    streams: new OpenStreams(clock.nowMs),
    edgeCache: false,
  });
  const ofClient = { ...route, clientRateKey: () => '192.0.2.1' } as unknown as Route;
  for (const headers of [{}, { Accept: 'text/event-stream' }]) {
    const url = `http://h/api/v1/events-streams/s?interval=${INTERVAL}`;
    const request = Object.assign(new Request(url, { headers }), { params: { stream_id: 's' } });
    const response = await handlers.readInterval(
      request as unknown as BunRequest<string>,
      ofClient,
    );
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
  }
  expect(readers).toEqual(['192.0.2.1', '192.0.2.1']);
});

test('[G-9] HEAD of an event stream opens no stream', async () => {
  const handlers = feedHandlers({
    log: {} as FeedLog, // It is not read.
    clock,
    credentials: { viewer: () => viewer } as unknown as Credentials,
    streams: new OpenStreams(clock.nowMs),
    edgeCache: false,
  });
  const request = new Request(`http://h/api/v1/events-streams/s?interval=${INTERVAL}`, {
    method: 'HEAD',
    headers: { Accept: 'text/event-stream' },
  });
  const params = { stream_id: 's' };
  const response = await handlers.readInterval(
    Object.assign(request, { params }) as unknown as BunRequest<string>,
    route as unknown as Route,
  );
  expect(response.headers.get('content-type')).toBe('text/event-stream');
});
