import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import pino from 'pino';
import { type RedisServer, startRedis } from '../../../test/support/backends/redis.ts';
import { openTestRedis } from '../../../test/support/backends/redis-client.ts';
import { createClock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import { STEPS } from '../../realtime/coordination/shared-clock.ts';
import { type ClockReadings, estimateAt, withReading } from './clock-estimate.ts';
import type { Redis } from './redis.ts';
import { openRedisClock } from './redis-clock.ts';

const START_MS = 1_800_000_000_000;
const TRIP_MS = 0.4;
const logger = pino({ level: 'silent' });
const askLeadMs = async () => 0;

/** A node's service time over a Redis whose clock the test steps; time passes by hand. */
function createNode() {
  const world = { monotonicMs: 1_000, redisMs: START_MS };
  const reading = () => ({
    sentMs: world.monotonicMs,
    receivedMs: world.monotonicMs + TRIP_MS,
    serverMs: world.redisMs + TRIP_MS / 2,
  });
  let readings: ClockReadings = [reading()];
  const clock = createClock({
    systemMs: () => world.monotonicMs + estimateAt(readings, world.monotonicMs).offsetMs,
    monotonicMs: () => world.monotonicMs,
    notBeforeMs: 0,
    ...STEPS,
  });
  /** Lets seconds pass, with a reading in each unless Redis is unavailable. @returns service times */
  const run = (seconds: number, isUnavailable = false) =>
    Array.from({ length: seconds * 4 }, (_, quarter) => {
      world.monotonicMs += 250;
      world.redisMs += 250;
      if (!isUnavailable && quarter % 4 === 0) ({ readings } = withReading(readings, reading()));
      return clock.nowMs();
    });
  return { world, clock, run };
}

describe('service time over the clock of Redis', () => {
  test('[N-8] [K-4] [K-5] never goes back when another Redis takes over whose clock is up to 300 ms behind or 100 ms ahead', () => {
    fc.assert(
      fc.property(fc.integer({ min: -300, max: 100 }), (stepMs) => {
        const { world, clock, run } = createNode();
        run(3);
        const times = [clock.nowMs()];
        world.redisMs += stepMs;
        times.push(...run(31));
        for (const [index, time] of times.slice(1).entries()) {
          const passedMs = time - (times[index] ?? 0);
          expect(passedMs).toBeGreaterThanOrEqual(247);
          expect(passedMs).toBeLessThanOrEqual(253);
        }
        expect(Math.abs(clock.nowMs() - world.redisMs)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('[N-8] [K-5] follows a Redis that is an hour ahead after 2 s, and one that is behind by 1 %', () => {
    const ahead = createNode();
    ahead.world.redisMs += 3_600_000;
    ahead.run(2);
    expect(ahead.world.redisMs - ahead.clock.nowMs()).toBeGreaterThan(3_590_000);
    ahead.run(1);
    expect(Math.abs(ahead.clock.nowMs() - ahead.world.redisMs)).toBeLessThanOrEqual(1);

    const behind = createNode();
    behind.world.redisMs -= 3_600_000;
    const times = behind.run(60);
    expect(times.toSorted((a, b) => a - b)).toEqual(times);
    expect(behind.clock.nowMs() - behind.world.redisMs).toBeCloseTo(3_599_400, -2);
  });

  test('[N-8] goes on while Redis is unavailable, at the pace of real time', () => {
    const { world, clock, run } = createNode();
    run(5);
    run(600, true);
    expect(Math.abs(clock.nowMs() - world.redisMs)).toBeLessThanOrEqual(1);
  });
});

describe('the clock of a real Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    redis = await openTestRedis(server.url);
  });
  afterAll(async () => {
    await redis.close();
    await server.stop();
  });

  test('[N-8] is what its functions see, whatever the system clock of the node says', async () => {
    const HOUR_MS = 3_600_000;
    const timeMs = async () => (await redis.timeMs()) + HOUR_MS;
    const clock = await openRedisClock({ redis: { timeMs }, askLeadMs, logger });
    try {
      const beforeMs = clock.systemMs();
      const trueMs = await timeMs();
      const afterMs = clock.systemMs();
      const errorMs = clock.errorMs();
      expect(beforeMs - errorMs).toBeLessThanOrEqual(trueMs);
      expect(afterMs + errorMs).toBeGreaterThanOrEqual(trueMs);
      expect(errorMs).toBeLessThan(50);
    } finally {
      clock.close();
    }
  });

  test('[N-8] asks how far other nodes are ahead, and tells them where this one is', async () => {
    const told: (number | null)[] = [];
    const clock = await openRedisClock({
      redis,
      logger,
      askLeadMs: async (serviceMs) => 70 + told.push(serviceMs),
    });
    try {
      expect(clock.leadMs()).toBe(71);
      clock.tell(() => 42);
      while (told.length < 2) await Bun.sleep(10);
      expect(told).toEqual([null, 42]);
      expect(clock.leadMs()).toBe(72);
    } finally {
      clock.close();
    }
  });

  test('[N-2] waits for a Redis that is unavailable, and fails on an error that stays', async () => {
    const errors = [new Unavailable('away'), new Unavailable('away')];
    const timeMs = async () => {
      const error = errors.pop();
      if (error) throw error;
      return START_MS;
    };
    const clock = await openRedisClock({ redis: { timeMs }, askLeadMs, logger });
    expect(clock.systemMs()).toBeGreaterThanOrEqual(START_MS - 1);
    clock.close();

    const broken = { timeMs: () => Promise.reject(new Error('no such command')) };
    const error = await openRedisClock({ redis: broken, askLeadMs, logger }).catch((e: Error) => e);
    expect(String(error)).toContain('no such command');
  });
});
