import { expect, test } from 'bun:test';
import type { BunRequest } from 'bun';
import { intervalStartMs } from '../../../protocol/interval.ts';
import type { Credentials } from '../../auth/credentials.ts';
import type { Route } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { FeedLog } from './feed-log.ts';
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
