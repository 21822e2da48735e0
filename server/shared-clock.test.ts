import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import pino from 'pino';
import { intervalAt, intervalStartMs } from '../protocol/interval.ts';
import { type PostgresServer, startPostgres } from '../test/backends/postgres.ts';
import { type RedisServer, startRedis } from '../test/backends/redis.ts';
import { type FeedGround, type FeedNode, openSharedGround } from './feed/feed-ground.ts';
import { libraryOf, libraryText } from './redis/library.ts';
import { openRedis } from './redis/open-redis.ts';
import type { Redis } from './redis/redis.ts';

// Three nodes in real time, on a Redis whose clock is stepped under them.

const SEATS = 9;
const HEARTBEAT_MS = 400;
const AGREED_MS = 4_000;
const APART_MAX_MS = 150;
const TEST_MS = 30_000;

let steppedMs = 0;
let redis: RedisServer;
let postgres: PostgresServer;
let ground: FeedGround;
let streamId: string;
let nodes: FeedNode[];
let heartbeats: Timer;
let databases = 0;

// `TIME`, as functions and nodes see it, is off by what the test says.
const STEP_KEY = '{fourbeat}:step';
const steppedLibrary = libraryOf(`
local function stepped_time()
  local time = redis.call('TIME')
  local us = tonumber(time[1]) * 1000000 + tonumber(time[2])
  us = us + 1000 * tonumber(redis.call('GET', '${STEP_KEY}') or '0')
  return { math.floor(us / 1000000), us % 1000000 }
end
${libraryText().replaceAll("redis.call('TIME')", 'stepped_time()')}`);

async function connect(): Promise<Redis> {
  const logger = pino({ level: 'silent' });
  const made = await openRedis({ url: redis.url, replicas: 0, logger, library: steppedLibrary });
  return { ...made, timeMs: async () => (await made.timeMs()) + steppedMs };
}

async function stepRedis(ms: number): Promise<void> {
  await redis.command('SET', STEP_KEY, ms);
  steppedMs = ms;
}

describe('service time of nodes that live together', () => {
  beforeAll(async () => {
    [redis, postgres] = await Promise.all([
      startRedis({ persistence: false }),
      startPostgres({ fsync: false }),
    ]);
  });
  afterAll(async () => {
    await Promise.all([redis.stop(), postgres.stop()]);
  });
  beforeEach(async () => {
    await redis.command('FLUSHALL');
    await stepRedis(0);
    const databaseUrl = await postgres.createDatabase(`shared_clock_${++databases}`);
    ground = await openSharedGround({ redisUrl: redis.url, databaseUrl, nodes: 3, connect });
    streamId = await ground.newStream();
    nodes = [...ground.nodes];
    heartbeats = setInterval(() => {
      for (let seat = 0; seat < SEATS; seat++) {
        nodes[seat % nodes.length]?.beat.tally.register(streamId, seat);
      }
    }, HEARTBEAT_MS);
    await Bun.sleep(1_500);
  });
  afterEach(async () => {
    clearInterval(heartbeats);
    await ground.close();
  });

  /** A node is stopped, and another takes its place; `monotonicMs` is the other's. */
  async function restart(place: number, monotonicMs?: () => number): Promise<void> {
    const [stopped] = nodes.splice(place, 1);
    await stopped?.stop();
    nodes.push(await ground.openNode(monotonicMs));
  }

  function apartMs(): number {
    const times = nodes.map(({ clock }) => clock.nowMs());
    return Math.max(...times) - Math.min(...times);
  }

  /** The interval that is under way; what it was refused with, if it was. */
  async function read({ beat, clock }: FeedNode): Promise<unknown> {
    const body = beat.feed.read(streamId, intervalAt(clock.nowMs()));
    return await Promise.resolve(body).catch((error) => error);
  }

  /** For some seconds nodes agree, everybody is counted everywhere, and reads are answered. */
  async function isWell(): Promise<void> {
    const told: number[] = [];
    const end = (nodes[0] as FeedNode).beat.feed.subscribe(streamId, (_, body) => {
      const value = /"value":(\d+)/.exec(new TextDecoder().decode(body))?.[1];
      if (value !== undefined) told.push(Number(value));
    });
    for (let look = 0; look < 8; look++) {
      expect(apartMs()).toBeLessThan(APART_MAX_MS);
      for (const body of await Promise.all(nodes.map(read))) {
        expect(body).toBeInstanceOf(Uint8Array);
      }
      for (const { beat } of nodes) expect(await beat.tally.count(streamId)).toBe(SEATS);
      await Bun.sleep(250);
    }
    end?.();
    expect(told.length).toBeGreaterThanOrEqual(2);
    expect(told.filter((value) => value !== SEATS)).toEqual([]);
  }

  for (const stepMs of [1_500, 10_000, -400, -10_000]) {
    test(
      `[N-8] [I-5] is the same when Redis’ clock steps by ${stepMs} ms and nodes are restarted`,
      async () => {
        await stepRedis(stepMs);
        const fromMs = performance.now();
        await Bun.sleep(1_200);
        await restart(0);
        await restart(0);
        await Bun.sleep(fromMs + AGREED_MS - performance.now());
        await isWell();
        await restart(0);
        await Bun.sleep(1_500);
        await isWell();
      },
      TEST_MS,
    );
  }

  test(
    '[N-8] [I-5] is the same again when a node did not run for a while, also while Redis’ clock is behind',
    async () => {
      await stepRedis(-15_000);
      let stoodMs = 0;
      await restart(0, () => performance.now() - stoodMs);
      for (const ms of [1_000, 9_000]) {
        stoodMs += ms;
        await Bun.sleep(AGREED_MS);
        await isWell();
      }
    },
    TEST_MS,
  );

  for (const aheadMs of [100, 900]) {
    test(
      `[N-8] [N-11] feed reads are answered in time when service time is ${aheadMs} ms ahead of Redis’ clock`,
      async () => {
        await stepRedis(-aheadMs);
        await Bun.sleep(1_500);
        const late: number[] = [];
        for (let look = 0; look < 8; look++) {
          for (const node of nodes) {
            const endMs = intervalStartMs(intervalAt(node.clock.nowMs()) + 1);
            expect(await read(node)).toBeInstanceOf(Uint8Array);
            late.push(node.clock.nowMs() - endMs);
          }
        }
        expect(late.toSorted((a, b) => a - b)[late.length >> 1]).toBeLessThan(200);
      },
      TEST_MS,
    );
  }
});
