import { expect } from 'bun:test';
import pino from 'pino';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { createLibrary, readLibrarySources } from '../../../server/storage/redis/library.ts';
import { openRedis } from '../../../server/storage/redis/open-redis.ts';
import type { Redis } from '../../../server/storage/redis/redis.ts';
import type { PostgresServer } from '../backends/postgres.ts';
import { type RedisServer, startRedis } from '../backends/redis.ts';
import { type Observation, observe, observeNow, SteadyMachine } from '../steady-machine.ts';
import { type FeedFixture, type FeedNode, openSharedFixture } from './feed-fixture.ts';

const SEATS = 9;
const HEARTBEAT_MS = 400;
/** Nodes read Redis' clock once a second, and step after a lag of 2 s: they agree after this. */
const AGREED_MS = 4_000;
/** On a slow machine, which delays reading or step, they agree after this at the latest. */
const AGREED_MAX_MS = 8_000;
const DIFFERENCE_MAX_MS = 150;
/** Checks during which the machine was stalled are repeated for at most this long. */
const CHECKS_MAX_MS = 40_000;
const CHECKS = 8;
const CHECK_EVERY_MS = 250;

// Shifts `TIME`, as functions and nodes read it, by the value of this key.
const STEP_KEY = '{fourbeat}:step';
const steppedLibrary = createLibrary(`
local function stepped_time()
  local time = redis.call('TIME')
  local us = tonumber(time[1]) * 1000000 + tonumber(time[2])
  us = us + 1000 * tonumber(redis.call('GET', '${STEP_KEY}') or '0')
  return { math.floor(us / 1000000), us % 1000000 }
end
${readLibrarySources().replaceAll("redis.call('TIME')", 'stepped_time()')}`);

/** State of all nodes at one moment: values, or errors as text. */
interface Check {
  readonly clocksAgree: boolean;
  readonly reads: readonly string[];
  readonly counts: readonly unknown[];
}

const NODES = 3;
const READ = Array.from({ length: NODES }, () => 'read');
const COUNTED = Array.from({ length: NODES }, () => SEATS);

let opening: Promise<void> = Promise.resolve();

/** Three nodes with permanent viewers, on a Redis whose clock can be stepped. */
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

  /** Opens a fixture for a test, and closes it afterwards. */
  static async use(
    postgres: PostgresServer,
    run: (fixture: SteppedFixture) => Promise<void>,
  ): Promise<void> {
    const redis = await startRedis({ persistence: false });
    const fixture = new SteppedFixture(redis, postgres);
    try {
      await fixture.openQueued();
      await Bun.sleep(1_500);
      await run(fixture);
    } finally {
      clearInterval(fixture.heartbeats ?? undefined);
      fixture.machine?.stop();
      await fixture.fixture?.close();
      await redis.stop();
    }
  }

  /** Opens fixtures one after the other: concurrent creation of databases is slower. */
  private openQueued(): Promise<void> {
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
    this.machine = new SteadyMachine(() => this.pingBackends());
    this.heartbeats = setInterval(() => this.heartbeat(), HEARTBEAT_MS);
  }

  private heartbeat(): void {
    for (let seat = 0; seat < SEATS; seat++) {
      const { realtime } = this.nodes[seat % this.nodes.length] as FeedNode;
      // While Redis is unavailable registrations fail, and checks are not judged.
      if (realtime.presence.unavailableReason() === null)
        realtime.presence.register(this.streamId, seat);
    }
  }

  private async connect(): Promise<Redis> {
    const logger = pino({ level: 'silent' });
    const options = { url: this.redis.url, replicas: 0, logger, library: steppedLibrary };
    const inner = await openRedis(options);
    return { ...inner, timeMs: async () => (await inner.timeMs()) + this.steppedMs };
  }

  private async pingBackends(): Promise<void> {
    const { redis, store } = this.nodes.at(-1) as FeedNode;
    await Promise.all([redis?.timeMs(), store.readWatermark({})]);
  }

  async stepRedis(ms: number): Promise<void> {
    await this.redis.command('SET', STEP_KEY, ms);
    this.steppedMs = ms;
  }

  /** Stops the oldest node and starts a new one. @param monotonicMs clock of the new node */
  async restart(monotonicMs?: () => number): Promise<void> {
    await this.nodes.shift()?.stop();
    this.nodes.push(await this.fixture.openNode(monotonicMs));
  }

  /**
   * Waits until the clocks agree after a change at `fromMs`, and all viewers are counted. Registrations
   * on a node before its step are in the past by its new time: those viewers count again when their
   * next heartbeat is replicated.
   */
  async agree(fromMs: number): Promise<void> {
    await Bun.sleep(fromMs + AGREED_MS - performance.now());
    while (this.differenceMs() >= DIFFERENCE_MAX_MS) {
      expect(performance.now()).toBeLessThan(fromMs + AGREED_MAX_MS);
      await Bun.sleep(10);
    }
    await Bun.sleep(HEARTBEAT_MS + 1_000);
  }

  /**
   * Checks for some seconds that the clocks agree, all viewers are counted on every node, and reads
   * succeed. Only checks during which the machine was not stalled are judged: without heartbeats
   * viewers are not counted.
   */
  async expectHealthy(): Promise<void> {
    const published: Observation<number>[] = [];
    const unsubscribe = this.nodes[0]?.realtime.feed.subscribe(this.streamId, (_, body) => {
      const value = /"value":(\d+)/.exec(new TextDecoder().decode(body))?.[1];
      if (value !== undefined) published.push(observeNow(Number(value)));
    });
    for (const check of await this.repeat(CHECKS, () => this.check())) {
      expect(check).toEqual({ clocksAgree: true, reads: READ, counts: COUNTED });
    }
    unsubscribe?.();
    const values = this.machine.filterSteady(published);
    expect(values.length).toBeGreaterThanOrEqual(1);
    expect(values.filter((value) => value !== SEATS)).toEqual([]);
  }

  /**
   * Reads intervals on every node for some seconds.
   * @returns the time from the end of each interval until it was read, in ms; Infinity for a failure
   */
  async readLatencies(): Promise<number[]> {
    const latencies = await this.repeat(CHECKS, () =>
      Promise.all(this.nodes.map((node) => this.readLatency(node))),
    );
    return latencies.flat();
  }

  /** Repeats a check until `count` of its runs were on a machine that was not stalled. */
  private async repeat<T>(count: number, check: () => Promise<T>): Promise<T[]> {
    const all: Observation<T>[] = [];
    for (const untilMs = performance.now() + CHECKS_MAX_MS; ; ) {
      all.push(await observe(check));
      await Bun.sleep(CHECK_EVERY_MS);
      await this.machine.settled();
      const judged = this.machine.filterSteady(all);
      if (judged.length >= count) return judged;
      if (performance.now() > untilMs) throw new Error('the machine has no time for this test');
    }
  }

  private async check(): Promise<Check> {
    const { nodes, streamId } = this;
    const clocksAgree = this.differenceMs() < DIFFERENCE_MAX_MS;
    const reads = await Promise.all(nodes.map((node) => this.read(node)));
    const counts: unknown[] = [];
    for (const { realtime } of nodes) {
      counts.push(await Promise.resolve(realtime.presence.count(streamId)).catch(String));
    }
    return { clocksAgree, reads, counts };
  }

  private differenceMs(): number {
    const times = this.nodes.map(({ clock }) => clock.nowMs());
    return Math.max(...times) - Math.min(...times);
  }

  /** Reads the current interval. @returns 'read', or the error as text */
  private async read({ realtime, clock }: FeedNode): Promise<string> {
    const body = realtime.feed.read(this.streamId, intervalAt(clock.nowMs()));
    return Promise.resolve(body).then(() => 'read', String);
  }

  private async readLatency(node: FeedNode): Promise<number> {
    const endMs = intervalStartMs(intervalAt(node.clock.nowMs()) + 1);
    const isRead = (await this.read(node)) === 'read';
    return isRead ? node.clock.nowMs() - endMs : Number.POSITIVE_INFINITY;
  }
}
