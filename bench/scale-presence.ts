import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../protocol/interval.ts';
import type { SharedPresenceRegistry } from '../server/realtime/presence/presence-registry.ts';
import { createRedisPresence } from '../server/realtime/presence/presence-registry-redis.ts';
import { openRedis } from '../server/storage/redis/open-redis.ts';
import { type RedisServer, startRedis } from '../test/support/backends/redis.ts';
import { type RedisWork, readWork, workBetween } from './redis-meter.ts';

/** One stream whose viewers are distributed randomly over nodes and over the intervals of a second. */
export interface PresenceCase {
  readonly nodes: number;
  /** Seats of the stream; every `seats / viewers`-th has a viewer. */
  readonly seats: number;
  readonly viewers: number;
  /** Whether viewers read the count on every node, besides sealing. */
  readonly polled?: boolean;
  readonly seconds: number;
}

interface PresenceResult extends PresenceCase {
  readonly work: RedisWork;
  /** Work of Redis in the same time without viewers. */
  readonly idle: RedisWork;
}

/** Intervals in a second. */
const PHASES = 4;
/** Batches of registrations in an interval, between which counts are read. */
const PORTIONS = 20;
const WARM_UP_S = 2;

/**
 * Measures real presence registries, one per node with its own connection. They register every viewer
 * once a second and replicate each interval at its end, four times a second; one of them counts, and the
 * count must be exact. On a busy machine a second takes longer, but its work is the same.
 */
export async function measurePresence(one: PresenceCase): Promise<PresenceResult> {
  const server = await startRedis({ persistence: false });
  const logger = pino({ level: 'silent' });
  const connect = () => openRedis({ url: server.url, replicas: 0, logger });
  const connections = await Promise.all(Array.from({ length: one.nodes }, connect));
  try {
    const show = new Show(one, (clock) =>
      connections.map((redis) => {
        const watermark = () => intervalAt(clock.nowMs()) - 1;
        return createRedisPresence({ redis, clock, serviceId: 'bench', watermark });
      }),
    );
    const idle = await measureWork(server, () => Bun.sleep(one.seconds * 1_000));
    await show.run(WARM_UP_S);
    const work = await measureWork(server, () => show.run(one.seconds));
    return { ...one, work, idle };
  } finally {
    for (const redis of connections) await redis.close();
    await server.stop();
  }
}

async function measureWork(server: RedisServer, run: () => Promise<void>): Promise<RedisWork> {
  const before = await readWork(server);
  await run();
  return workBetween(before, await readWork(server));
}

/** Simulated service time, nodes with a presence registry each, and the seats that register on them. */
class Show {
  private readonly streamId = randomUUID();
  private readonly registries: readonly SharedPresenceRegistry[];
  /** Seats by node and by interval of the second. */
  private readonly seats: number[][][];
  /** False in the first second, in which viewers still join and the count is lower. */
  private haveAllJoined = false;
  private nowMs = intervalStartMs(
    intervalAt(Date.now()) + PHASES - (intervalAt(Date.now()) % PHASES),
  );

  constructor(
    private readonly one: PresenceCase,
    registriesOn: (clock: { nowMs(): number }) => SharedPresenceRegistry[],
  ) {
    this.registries = registriesOn({ nowMs: () => this.nowMs });
    this.seats = this.registries.map(() => Array.from({ length: PHASES }, () => []));
    for (let viewer = 0; viewer < one.viewers; viewer += 1) {
      const node = this.seats[Math.floor(Math.random() * one.nodes)] ?? [];
      const seat = Math.floor((viewer * one.seats) / one.viewers);
      node[Math.floor(Math.random() * PHASES)]?.push(seat);
    }
  }

  async run(seconds: number): Promise<void> {
    const startMs = performance.now();
    for (let interval = 1; interval <= seconds * PHASES; interval += 1) {
      await this.interval();
      await Bun.sleep(startMs + interval * INTERVAL_MS - performance.now());
    }
  }

  private async interval(): Promise<void> {
    const ended = intervalAt(this.nowMs);
    const portions = this.one.polled ? PORTIONS : 1;
    for (let portion = 0; portion < portions; portion += 1) {
      this.register(ended, portion, portions);
      if (!this.one.polled) continue;
      for (const presence of this.registries) void presence.count(this.streamId);
      await Bun.sleep(INTERVAL_MS / PORTIONS - 1);
    }
    this.nowMs += INTERVAL_MS;
    await Promise.all(this.registries.map((presence) => presence.replicate(ended)));
    if (ended % PHASES === PHASES - 1) await this.count(ended);
  }

  private register(interval: number, portion: number, portions: number): void {
    for (const [node, presence] of this.registries.entries()) {
      const seats = this.seats[node]?.[interval % PHASES] ?? [];
      const [from, to] = [portion, portion + 1].map((n) =>
        Math.floor((n * seats.length) / portions),
      );
      for (const seat of seats.slice(from, to)) presence.register(this.streamId, seat);
    }
  }

  private async count(ended: number): Promise<void> {
    const presence = this.registries[ended % this.registries.length] as SharedPresenceRegistry;
    const counts = new Map(await presence.countsAtEndOf(ended));
    const value = counts.get(this.streamId) ?? 0;
    if (value !== this.one.viewers && this.haveAllJoined) {
      throw new Error(`counted ${value} of ${this.one.viewers}`);
    }
    this.haveAllJoined = true;
  }
}
