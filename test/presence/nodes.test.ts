import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import pino from 'pino';
import { BLOCK_SEATS } from '../../server/realtime/presence/presence-ring.ts';
import { openRedis } from '../../server/storage/redis/open-redis.ts';
import type { Redis } from '../../server/storage/redis/redis.ts';
import { startRedis } from '../support/backends/redis.ts';
import { startCluster } from '../support/backends/redis-cluster.ts';
import { rounds } from '../support/full-run.ts';
import { PresenceNodes } from '../support/presence/nodes.ts';
import { startModel } from '../support/simulation/redis/model-of-file.ts';

type Step =
  | { kind: 'register'; node: number; seats: number[] }
  | { kind: 'count'; node: number }
  | { kind: 'pass'; intervals: number }
  | { kind: 'end'; lateNode: number };

const node = fc.nat({ max: 2 });
const seat = fc.oneof(
  { weight: 5, arbitrary: fc.nat({ max: 70 }) },
  { weight: 1, arbitrary: fc.nat({ max: 3_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: BLOCK_SEATS - 9, max: BLOCK_SEATS + 9 }) },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('register' as const),
    node,
    seats: fc.array(seat, { maxLength: 9 }),
  }),
  fc.record({ kind: fc.constant('count' as const), node }),
  fc.record({ kind: fc.constant('pass' as const), intervals: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ kind: fc.constant('end' as const), lateNode: node }),
);
const steps = fc.array(step, { maxLength: 60, size: 'max' });

/** All registrations: the model of what must and what may be counted. */
class Registrations {
  readonly #all: Array<{ node: number; seat: number; interval: number }> = [];

  add(node: number, seat: number, interval: number): void {
    this.#all.push({ node, seat, interval });
  }

  /** Number of seats that registered between two intervals on any node. */
  between(from: number, to: number): number {
    return this.count({ replicated: [from, to], node: -1, local: [from, to] });
  }

  /** Number of seats that registered in some intervals on any node, or in others on one node. */
  count(spans: { replicated: Span; node: number; local: Span }): number {
    const counted = this.#all.filter(
      ({ node, interval }) =>
        isIn(interval, spans.replicated) || (node === spans.node && isIn(interval, spans.local)),
    );
    return new Set(counted.map(({ seat }) => seat)).size;
  }
}

type Span = readonly [from: number, to: number];
const isIn = (interval: number, [from, to]: Span) => interval >= from && interval <= to;

/** Redis servers, with the number of random runs on each. */
interface Backend {
  readonly redis: Redis;
  stop(): Promise<void>;
}

async function connectTo(server: {
  readonly url: string;
  stop(): Promise<void>;
}): Promise<Backend> {
  const logger = pino({ level: 'silent' });
  const redis = await openRedis({ url: server.url, replicas: 0, logger });
  return { redis, stop: () => redis.close().then(server.stop) };
}

async function openModel(): Promise<Backend> {
  const redis = await startModel().open();
  return { redis, stop: () => redis.close() };
}

const BACKENDS = [
  {
    name: 'one Redis',
    start: async () => connectTo(await startRedis({ persistence: false })),
    numRuns: rounds(20, 100),
  },
  {
    name: 'a cluster of three',
    start: async () => connectTo(await startCluster({ persistence: false })),
    numRuns: rounds(10, 30),
  },
  { name: 'the model of Redis', start: openModel, numRuns: rounds(20, 100) },
];

describe.each(BACKENDS)('viewers on many nodes, on $name,', ({ start, numRuns }) => {
  let backend: Backend;
  let redis: Redis;

  beforeAll(async () => {
    backend = await start();
    redis = backend.redis;
  });

  afterAll(() => backend.stop());

  test('[N-5] count once, also on several nodes', async () => {
    const nodes = new PresenceNodes(redis, 3);
    nodes.register(0, 1, 2, 70);
    nodes.register(1, 2, 3, 70);
    nodes.register(2, 70, 900);
    nodes.end();
    await nodes.replicate();
    for (const node of [0, 1, 2]) {
      expect(await nodes.count(node)).toBe(5);
      expect(await nodes.countAtEndOf(nodes.interval - 1, node)).toBe(5);
    }
    expect([...nodes.node(2).liveCounts()]).toEqual([[nodes.streamId, 2]]);
  });

  test('[N-5] [V-6] are in each later count on the node where they registered', async () => {
    const nodes = new PresenceNodes(redis, 2);
    for (let seat = 0; seat < 20; seat += 1) {
      nodes.register(seat % 2, seat);
      expect(await nodes.count(seat % 2)).toBe(Math.floor(seat / 2) + 1);
    }
  });

  test('[N-5] are in a later count also when the interval changes during another count', async () => {
    const nodes = new PresenceNodes(redis, 1);
    const first = nodes.count(0);
    nodes.register(0, 1);
    nodes.end();
    nodes.register(0, 2);
    const second = nodes.count(0);
    nodes.register(0, 3);
    expect(await first).toBeLessThanOrEqual(3);
    expect(await second).toBe(3);
    nodes.register(0, 4);
    expect(await nodes.count(0)).toBe(4);
  });

  test('[N-5] [I-5] are counted on every node as soon as their interval is replicated', async () => {
    const nodes = new PresenceNodes(redis, 2);
    nodes.register(0, 5);
    expect(await nodes.count(1)).toBe(0);
    await nodes.pass(1);
    expect(await nodes.count(1)).toBe(1);
    // `count` uses the window of the interval before: one interval longer than the published count.
    await nodes.pass(4);
    expect(await nodes.count(1)).toBe(1);
    await nodes.pass(1);
    expect(await nodes.count(1)).toBe(0);
  });

  test('[N-5] are counted in streams with several blocks of seats', async () => {
    const nodes = new PresenceNodes(redis, 2);
    nodes.register(0, 0, BLOCK_SEATS, 15 * BLOCK_SEATS);
    nodes.register(1, BLOCK_SEATS, BLOCK_SEATS + 1);
    await nodes.pass(1);
    nodes.register(1, 3 * BLOCK_SEATS - 1);
    expect([await nodes.count(0), await nodes.count(1)]).toEqual([4, 5]);
    expect(await nodes.countAtEndOf(nodes.interval - 1)).toBe(4);
    // The next count includes the further blocks as well.
    nodes.register(1, 0);
    expect(await nodes.count(1)).toBe(5);
  });

  test('[N-6] do not flicker when they move between two heartbeats', async () => {
    const nodes = new PresenceNodes(redis, 3);
    for (let second = 0; second < 6; second += 1) {
      nodes.register(second % 2, 8);
      for (let passed = 0; passed < 4; passed += 1) {
        nodes.end();
        // The third node counts before and after the interval is replicated.
        if (second > 0) expect(await nodes.count(2)).toBe(1);
        await nodes.replicate();
        expect(await nodes.count(2)).toBe(1);
        expect(await nodes.countAtEndOf(nodes.interval - 1, second % 3)).toBe(1);
      }
    }
  });

  test('[N-6] do not flicker when a heartbeat is late by the jitter of a timer', async () => {
    const nodes = new PresenceNodes(redis, 2);
    nodes.register(0, 8);
    await nodes.pass(4);
    for (let second = 0; second < 3; second += 1) {
      // The heartbeat is due in the interval that ends here, and comes in the next.
      nodes.end();
      expect(await nodes.count(1)).toBe(1);
      await nodes.replicate();
      expect(await nodes.count(1)).toBe(1);
      nodes.register(0, 8);
      expect([await nodes.count(0), await nodes.count(1)]).toEqual([1, 1]);
      await nodes.pass(4);
    }
  });

  test('[N-7] lose only the interval in which their node crashed', async () => {
    const nodes = new PresenceNodes(redis, 2);
    nodes.register(0, 1);
    nodes.register(1, 2);
    await nodes.pass(1);
    nodes.register(1, 3);
    nodes.end();
    await nodes.replicate([0]);
    expect(await nodes.countAtEndOf(nodes.interval - 1)).toBe(2);
    // Each counts again with its next heartbeat.
    nodes.register(0, 2, 3);
    nodes.end();
    await nodes.replicate([0]);
    expect(await nodes.countAtEndOf(nodes.interval - 1)).toBe(3);
  });

  test('[N-8] [I-5] on a suspended node count again with their next heartbeat after its clock stepped', async () => {
    const nodes = new PresenceNodes(redis, 3);
    const all = async () => Promise.all([0, 1, 2].map((node) => nodes.count(node)));
    for (const lagMs of [2_000, 10_000]) {
      for (const suspended of [1, 0]) {
        nodes.lagMs[suspended] = lagMs;
        for (let beat = 0; beat < 10; beat += 1) {
          for (const node of [0, 1, 2]) nodes.register(node, node, node + 40);
          await nodes.pass(1);
        }
        // By its clock, its viewers registered two seconds ago or earlier.
        expect(await nodes.countAtEndOf(nodes.interval - 1, 2)).toBe(4);
        nodes.lagMs[suspended] = 0;
        expect(await nodes.count(2)).toBe(4);
        for (const node of [0, 1, 2]) nodes.register(node, node, node + 40);
        expect(await nodes.count(suspended)).toBe(6);
        await nodes.pass(1);
        expect(await all()).toEqual([6, 6, 6]);
        expect(await nodes.countAtEndOf(nodes.interval - 1, 2)).toBe(6);
        await nodes.pass(4);
        expect(await nodes.countAtEndOf(nodes.interval - 1, 2)).toBe(6);
        await nodes.pass(1);
        expect(await nodes.countAtEndOf(nodes.interval - 1, 2)).toBe(0);
        await nodes.pass(20);
      }
    }
  });

  test('[C-19] are not counted once all nodes have evicted them, until they register again', async () => {
    const nodes = new PresenceNodes(redis, 3);
    const far = BLOCK_SEATS + 3;
    nodes.register(0, 1, far);
    nodes.register(1, 1, 2);
    nodes.register(2, 1);
    await nodes.pass(1);
    // Seat 1: node 1, which has not evicted it, replicates it; on node 2 it is not replicated yet.
    await nodes.node(0).evict(nodes.streamId, [1, far]);
    nodes.register(1, 1);
    await nodes.pass(1);
    nodes.register(2, 1, 2);
    for (const node of [1, 2]) await nodes.node(node).evict(nodes.streamId, [1, far]);
    for (let passed = 0; passed < 4; passed += 1) {
      for (const node of [0, 1, 2]) expect(await nodes.count(node)).toBe(1);
      await nodes.pass(1);
      expect(await nodes.countAtEndOf(nodes.interval - 1)).toBe(1);
    }
    nodes.register(1, 1);
    expect(await nodes.count(1)).toBe(2);
    await nodes.pass(1);
    expect(await nodes.countAtEndOf(nodes.interval - 1)).toBe(2);
  });

  test('are counted by the nodes of their own service only', async () => {
    const [one, other] = [new PresenceNodes(redis, 1), new PresenceNodes(redis, 1)];
    one.register(0, 1);
    await one.pass(1);
    await other.pass(1);
    expect([...(await other.node(0).countsAtEndOf(other.interval - 1))]).toEqual([]);
    expect([...(await one.node(0).countsAtEndOf(one.interval - 1))]).toEqual([[one.streamId, 1]]);
  });

  test('[F-27] make their stream appear once more with 0 after the last has left', async () => {
    const nodes = new PresenceNodes(redis, 2);
    nodes.register(0, 1);
    const published: Array<number | undefined> = [];
    for (let second = 0; second < 4; second += 1) {
      await nodes.pass(4);
      const counts = new Map(await nodes.node(second % 2).countsAtEndOf(nodes.interval - 1));
      published.push(counts.get(nodes.streamId));
    }
    expect(published).toEqual([1, 0, undefined, undefined]);
  });

  test('[I-5] [N-5] are counted as in a list of all registrations, on any node', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const nodes = new PresenceNodes(redis, 3);
        const registrations = new Registrations();
        for (const step of all) {
          const now = nodes.interval;
          if (step.kind === 'register') {
            nodes.register(step.node, ...step.seats);
            for (const seat of step.seats) registrations.add(step.node, seat, now);
          }
          if (step.kind === 'pass') await nodes.pass(step.intervals);
          // The interval has ended, but one node has not replicated it at the next counts.
          if (step.kind === 'end') {
            if (nodes.watermark < now - 1) await nodes.replicate();
            nodes.end();
            for (const other of [0, 1, 2])
              if (other !== step.lateNode) await nodes.node(other).replicate(now);
          }
          if (step.kind === 'count') {
            const value = await nodes.count(step.node);
            const replicated = nodes.watermark;
            const least = registrations.count({
              replicated: [replicated - 4, replicated],
              node: step.node,
              local: [now - 4, now],
            });
            const most = registrations.between(replicated - 4, now);
            expect(value).toBeGreaterThanOrEqual(least);
            expect(value).toBeLessThanOrEqual(most);
          }
          const ended = nodes.watermark;
          if (ended === nodes.interval - 1 && step.kind === 'pass') {
            expect(await nodes.countAtEndOf(ended)).toBe(registrations.between(ended - 4, ended));
          }
        }
      }),
      { numRuns },
    );
  });
});
