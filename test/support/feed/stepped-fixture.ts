import { expect } from 'bun:test';
import pino from 'pino';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { createLibrary, readLibrarySources } from '../../../server/storage/redis/library.ts';
import { openRedis } from '../../../server/storage/redis/open-redis.ts';
import type { Redis } from '../../../server/storage/redis/redis.ts';
import type { PostgresServer } from '../backends/postgres.ts';
import { type RedisServer, startRedis } from '../backends/redis.ts';
import { type Seen, SteadyMachine, seenBy, seenNow } from '../steady-machine.ts';
import { type FeedFixture, type FeedNode, openSharedFixture } from './feed-fixture.ts';

const SEATS = 9;
const HEARTBEAT_MS = 400;
/** Clocks are read once a second, and who is behind steps after 2 s: in health it takes no longer. */
const AGREED_MS = 4_000;
/** A machine that is short of time puts off the reading, or the step. */
const AGREED_LATE_MS = 8_000;
const APART_MAX_MS = 150;
/** What is looked at again, since the machine stood still meanwhile, is looked at for so long. */
const LOOKS_MAX_MS = 40_000;
const LOOKS = 8;
const LOOK_EVERY_MS = 250;

// `TIME`, as functions and nodes see it, is off by what the test says.
const STEP_KEY = '{fourbeat}:step';
const steppedLibrary = createLibrary(`
local function stepped_time()
  local time = redis.call('TIME')
  local us = tonumber(time[1]) * 1000000 + tonumber(time[2])
  us = us + 1000 * tonumber(redis.call('GET', '${STEP_KEY}') or '0')
  return { math.floor(us / 1000000), us % 1000000 }
end
${readLibrarySources().replaceAll("redis.call('TIME')", 'stepped_time()')}`);

/** What the nodes say at one moment, each for itself; or why they do not. */
interface Look {
  readonly areTogether: boolean;
  readonly reads: readonly string[];
  readonly counts: readonly unknown[];
}

const NODES = 3;
const READ = Array.from({ length: NODES }, () => 'read');
const COUNTED = Array.from({ length: NODES }, () => SEATS);

let opening: Promise<void> = Promise.resolve();

/** Three nodes and viewers who are there all the time, on a Redis of their own that can be stepped. */
export class SteppedFixture {
  private steppedMs = 0;
  private nodes: FeedNode[] = [];
  private fixture!: FeedFixture;
  private machine!: SteadyMachine;
  private streamId = '';
  private heartbeats: Timer | null = null;

  private constructor(
    private readonly redis: RedisServer,
    private readonly postgres: PostgresServer,
  ) {}

  /** Opens one for a test, and closes it in the end. */
  static async use(
    postgres: PostgresServer,
    run: (fixture: SteppedFixture) => Promise<void>,
  ): Promise<void> {
    const redis = await startRedis({ persistence: false });
    const stepped = new SteppedFixture(redis, postgres);
    try {
      await stepped.openInTurn();
      await Bun.sleep(1_500);
      await run(stepped);
    } finally {
      clearInterval(stepped.heartbeats ?? undefined);
      stepped.machine?.stop();
      await stepped.fixture?.close();
      await redis.stop();
    }
  }

  /** A database is made once the one before is: all at once they keep each other waiting. */
  private openInTurn(): Promise<void> {
    const opened = opening.then(() => this.open());
    opening = opened.catch(() => {});
    return opened;
  }

  private async open(): Promise<void> {
    const databaseUrl = await this.postgres.createDatabase(`shared_clock_${this.redis.port}`);
    const connect = () => this.connect();
    const { url: redisUrl } = this.redis;
    this.fixture = await openSharedFixture({ redisUrl, databaseUrl, nodes: NODES, connect });
    this.streamId = await this.fixture.newStream();
    this.nodes = [...this.fixture.nodes];
    this.machine = new SteadyMachine(() => this.backends());
    this.heartbeats = setInterval(() => this.beat(), HEARTBEAT_MS);
  }
  private beat(): void {
    for (let seat = 0; seat < SEATS; seat++) {
      const { realtime } = this.nodes[seat % this.nodes.length] as FeedNode;
      // While Redis is unavailable nobody registers, and nobody is looked at either.
      if (realtime.presence.unavailable() === null) realtime.presence.register(this.streamId, seat);
    }
  }

  private async connect(): Promise<Redis> {
    const logger = pino({ level: 'silent' });
    const options = { url: this.redis.url, replicas: 0, logger, library: steppedLibrary };
    const made = await openRedis(options);
    return { ...made, timeMs: async () => (await made.timeMs()) + this.steppedMs };
  }

  private async backends(): Promise<void> {
    const { redis, store } = this.nodes.at(-1) as FeedNode;
    await Promise.all([redis?.timeMs(), store.readWatermark({})]);
  }

  async stepRedis(ms: number): Promise<void> {
    await this.redis.command('SET', STEP_KEY, ms);
    this.steppedMs = ms;
  }

  /** The oldest node is stopped, and another takes its place; `monotonicMs` is the other's. */
  async restart(monotonicMs?: () => number): Promise<void> {
    await this.nodes.shift()?.stop();
    this.nodes.push(await this.fixture.openNode(monotonicMs));
  }

  /**
   * Waits until nodes agree after something happened at `fromMs`, and who is there is counted. What
   * registered on a node before its step did so in its old time, which is over: those viewers count
   * again with their next heartbeat, once that is handed in.
   */
  async agree(fromMs: number): Promise<void> {
    await Bun.sleep(fromMs + AGREED_MS - performance.now());
    while (this.apartMs() >= APART_MAX_MS) {
      expect(performance.now()).toBeLessThan(fromMs + AGREED_LATE_MS);
      await Bun.sleep(10);
    }
    await Bun.sleep(HEARTBEAT_MS + 1_000);
  }

  /**
   * For some seconds nodes agree, everybody is counted everywhere, and reads are answered. Only what
   * was seen while the machine ran steadily is judged: heartbeats that are not sent count nowhere.
   */
  async isWell(): Promise<void> {
    const told: Seen<number>[] = [];
    const end = this.nodes[0]?.realtime.feed.subscribe(this.streamId, (_, body) => {
      const value = /"value":(\d+)/.exec(new TextDecoder().decode(body))?.[1];
      if (value !== undefined) told.push(seenNow(Number(value)));
    });
    for (const look of await this.steadily(LOOKS, () => this.look())) {
      expect(look).toEqual({ areTogether: true, reads: READ, counts: COUNTED });
    }
    end?.();
    const values = this.machine.steadily(told);
    expect(values.length).toBeGreaterThanOrEqual(1);
    expect(values.filter((value) => value !== SEATS)).toEqual([]);
  }

  /**
   * How long after its end each interval is read on every node, over some seconds, in ms; Infinity
   * for one that is refused.
   */
  async readsLate(): Promise<number[]> {
    const late = await this.steadily(LOOKS, () =>
      Promise.all(this.nodes.map((node) => this.readLate(node))),
    );
    return late.flat();
  }

  /** Looks again and again, until so many looks were while the machine ran steadily. */
  private async steadily<T>(looks: number, look: () => Promise<T>): Promise<T[]> {
    const all: Seen<T>[] = [];
    for (const untilMs = performance.now() + LOOKS_MAX_MS; ; ) {
      all.push(await seenBy(look));
      await Bun.sleep(LOOK_EVERY_MS);
      await this.machine.asked();
      const judged = this.machine.steadily(all);
      if (judged.length >= looks) return judged;
      if (performance.now() > untilMs) throw new Error('the machine has no time for this test');
    }
  }

  private async look(): Promise<Look> {
    const { nodes, streamId } = this;
    const areTogether = this.apartMs() < APART_MAX_MS;
    const reads = await Promise.all(nodes.map((node) => this.read(node)));
    const counts: unknown[] = [];
    for (const { realtime } of nodes) {
      counts.push(await Promise.resolve(realtime.presence.count(streamId)).catch(String));
    }
    return { areTogether, reads, counts };
  }

  private apartMs(): number {
    const times = this.nodes.map(({ clock }) => clock.nowMs());
    return Math.max(...times) - Math.min(...times);
  }

  /** The interval that is under way; or what it was refused with. */
  private async read({ realtime, clock }: FeedNode): Promise<string> {
    const body = realtime.feed.read(this.streamId, intervalAt(clock.nowMs()));
    return Promise.resolve(body).then(() => 'read', String);
  }

  private async readLate(node: FeedNode): Promise<number> {
    const endMs = intervalStartMs(intervalAt(node.clock.nowMs()) + 1);
    const isRead = (await this.read(node)) === 'read';
    return isRead ? node.clock.nowMs() - endMs : Number.POSITIVE_INFINITY;
  }
}
