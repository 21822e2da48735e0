import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
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

let postgres: PostgresServer;
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

/** Three nodes and viewers who are there all the time, on a Redis of their own that can be stepped. */
class SteppedGround {
  private steppedMs = 0;
  private nodes: FeedNode[] = [];
  private ground!: FeedGround;
  private streamId = '';
  private heartbeats: Timer | null = null;

  private constructor(private readonly redis: RedisServer) {}

  /** Opens one for a test, and closes it in the end. */
  static async use(run: (ground: SteppedGround) => Promise<void>): Promise<void> {
    const redis = await startRedis({ persistence: false });
    const stepped = new SteppedGround(redis);
    try {
      await stepped.open();
      await run(stepped);
    } finally {
      clearInterval(stepped.heartbeats ?? undefined);
      await stepped.ground?.close();
      await redis.stop();
    }
  }

  private async open(): Promise<void> {
    const databaseUrl = await postgres.createDatabase(`shared_clock_${++databases}`);
    const connect = () => this.connect();
    const { url: redisUrl } = this.redis;
    this.ground = await openSharedGround({ redisUrl, databaseUrl, nodes: 3, connect });
    this.streamId = await this.ground.newStream();
    this.nodes = [...this.ground.nodes];
    this.heartbeats = setInterval(() => {
      for (let seat = 0; seat < SEATS; seat++) {
        this.nodes[seat % this.nodes.length]?.beat.tally.register(this.streamId, seat);
      }
    }, HEARTBEAT_MS);
    await Bun.sleep(1_500);
  }

  private async connect(): Promise<Redis> {
    const logger = pino({ level: 'silent' });
    const options = { url: this.redis.url, replicas: 0, logger, library: steppedLibrary };
    const made = await openRedis(options);
    return { ...made, timeMs: async () => (await made.timeMs()) + this.steppedMs };
  }

  async stepRedis(ms: number): Promise<void> {
    await this.redis.command('SET', STEP_KEY, ms);
    this.steppedMs = ms;
  }

  /** The oldest node is stopped, and another takes its place; `monotonicMs` is the other's. */
  async restart(monotonicMs?: () => number): Promise<void> {
    await this.nodes.shift()?.stop();
    this.nodes.push(await this.ground.openNode(monotonicMs));
  }

  /** For some seconds nodes agree, everybody is counted everywhere, and reads are answered. */
  async isWell(): Promise<void> {
    const { nodes, streamId } = this;
    const told: number[] = [];
    const end = (nodes[0] as FeedNode).beat.feed.subscribe(streamId, (_, body) => {
      const value = /"value":(\d+)/.exec(new TextDecoder().decode(body))?.[1];
      if (value !== undefined) told.push(Number(value));
    });
    for (let look = 0; look < 8; look++) {
      expect(this.apartMs()).toBeLessThan(APART_MAX_MS);
      for (const body of await Promise.all(nodes.map((node) => this.read(node)))) {
        expect(body).toBeInstanceOf(Uint8Array);
      }
      for (const { beat } of nodes) expect(await beat.tally.count(streamId)).toBe(SEATS);
      await Bun.sleep(250);
    }
    end?.();
    expect(told.length).toBeGreaterThanOrEqual(2);
    expect(told.filter((value) => value !== SEATS)).toEqual([]);
  }

  /** How long after its end each interval is read, over some seconds and on every node, in ms. */
  async readsLate(): Promise<number[]> {
    const late: number[] = [];
    for (let look = 0; look < 8; look++) {
      for (const node of this.nodes) {
        const endMs = intervalStartMs(intervalAt(node.clock.nowMs()) + 1);
        expect(await this.read(node)).toBeInstanceOf(Uint8Array);
        late.push(node.clock.nowMs() - endMs);
      }
    }
    return late;
  }

  private apartMs(): number {
    const times = this.nodes.map(({ clock }) => clock.nowMs());
    return Math.max(...times) - Math.min(...times);
  }

  /** The interval that is under way; what it was refused with, if it was. */
  private async read({ beat, clock }: FeedNode): Promise<unknown> {
    const body = beat.feed.read(this.streamId, intervalAt(clock.nowMs()));
    return await Promise.resolve(body).catch((error) => error);
  }
}

// At once, since they mostly wait for real time.
describe.concurrent('service time of nodes that live together', () => {
  beforeAll(async () => {
    postgres = await startPostgres({ fsync: false, maxConnections: 500 });
  });
  afterAll(() => postgres.stop());

  for (const stepMs of [1_500, 10_000, -400, -10_000]) {
    test(
      `[N-8] [I-5] is the same when Redis’ clock steps by ${stepMs} ms and nodes are restarted`,
      () =>
        SteppedGround.use(async (ground) => {
          await ground.stepRedis(stepMs);
          const fromMs = performance.now();
          await Bun.sleep(1_200);
          await ground.restart();
          await ground.restart();
          await Bun.sleep(fromMs + AGREED_MS - performance.now());
          await ground.isWell();
          await ground.restart();
          await Bun.sleep(1_500);
          await ground.isWell();
        }),
      TEST_MS,
    );
  }

  test(
    '[N-8] [I-5] is the same again when a node did not run for a while, also while Redis’ clock is behind',
    () =>
      SteppedGround.use(async (ground) => {
        await ground.stepRedis(-15_000);
        let stoodMs = 0;
        await ground.restart(() => performance.now() - stoodMs);
        for (const ms of [1_000, 9_000]) {
          stoodMs += ms;
          await Bun.sleep(AGREED_MS);
          await ground.isWell();
        }
      }),
    TEST_MS,
  );

  for (const aheadMs of [100, 900]) {
    test(
      `[N-8] [N-11] feed reads are answered in time when service time is ${aheadMs} ms ahead of Redis’ clock`,
      () =>
        SteppedGround.use(async (ground) => {
          await ground.stepRedis(-aheadMs);
          await Bun.sleep(1_500);
          const late = await ground.readsLate();
          expect(late.toSorted((a, b) => a - b)[late.length >> 1]).toBeLessThan(200);
        }),
      TEST_MS,
    );
  }
});
