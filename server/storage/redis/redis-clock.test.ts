import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import pino from 'pino';
import { type RedisServer, startRedis } from '../../../test/support/backends/redis.ts';
import { openTestRedis } from '../../../test/support/backends/redis-client.ts';
import { createClock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import { CLUSTER_STEPS } from '../../realtime/coordination/shared-clock.ts';
import { addReading, type ClockReadings, estimateAt } from './clock-estimate.ts';
import type { Redis } from './redis.ts';
import { openRedisClock } from './redis-clock.ts';

const START_MS = 1_800_000_000_000;
const TRIP_MS = 0.4;
const logger = pino({ level: 'silent' });
const exchangeLeadMs = async () => 0;

/** A node's service time over a Redis; the test advances time and steps the clock of Redis. */
function createNode() {
  const machines = { monotonicMs: 1_000, redisMs: START_MS };
  const reading = () => ({
    sentMs: machines.monotonicMs,
    receivedMs: machines.monotonicMs + TRIP_MS,
    serverMs: machines.redisMs + TRIP_MS / 2,
  });
  let readings: ClockReadings = [reading()];
  const clock = createClock({
    systemMs: () => machines.monotonicMs + estimateAt(readings, machines.monotonicMs).offsetMs,
    monotonicMs: () => machines.monotonicMs,
    notBeforeMs: 0,
    ...CLUSTER_STEPS,
  });
  /** Passes seconds, with a reading in each unless Redis is unavailable. @returns service times */
  const run = (seconds: number, isUnavailable = false) =>
    Array.from({ length: seconds * 4 }, (_, quarter) => {
      machines.monotonicMs += 250;
      machines.redisMs += 250;
      if (!isUnavailable && quarter % 4 === 0) ({ readings } = addReading(readings, reading()));
      return clock.nowMs();
    });
  return { machines, clock, run };
}

describe('service time over the clock of Redis', () => {
  test('[N-8] [K-4] [K-5] service time over the clock of Redis never goes back when another Redis takes over whose clock is up to 300 ms behind or 100 ms ahead', () => {
    fc.assert(
      fc.property(fc.integer({ min: -300, max: 100 }), (stepMs) => {
        const { machines, clock, run } = createNode();
        run(3);
        const times = [clock.nowMs()];
        machines.redisMs += stepMs;
        // 300 ms take 30 s at a slew rate of 1 %, which is 2.5 ms of each 250 ms.
        times.push(...run(31));
        for (const [index, time] of times.slice(1).entries()) {
          const passedMs = time - (times[index] ?? 0);
          expect(passedMs).toBeGreaterThanOrEqual(247);
          expect(passedMs).toBeLessThanOrEqual(253);
        }
        expect(Math.abs(clock.nowMs() - machines.redisMs)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('[N-8] [K-5] service time over the clock of Redis steps to a Redis that is an hour ahead after 2 s, and slews by 1 % to one that is behind', () => {
    const ahead = createNode();
    ahead.machines.redisMs += 3_600_000;
    ahead.run(2);
    expect(ahead.machines.redisMs - ahead.clock.nowMs()).toBeGreaterThan(3_590_000);
    ahead.run(1);
    expect(Math.abs(ahead.clock.nowMs() - ahead.machines.redisMs)).toBeLessThanOrEqual(1);

    const behind = createNode();
    behind.machines.redisMs -= 3_600_000;
    const times = behind.run(60);
    expect(times.toSorted((a, b) => a - b)).toEqual(times);
    expect(behind.clock.nowMs() - behind.machines.redisMs).toBeCloseTo(3_599_400, -2);
  });

  test('[N-8] service time over the clock of Redis continues while Redis is unavailable, at the pace of real time', () => {
    const { machines, clock, run } = createNode();
    run(5);
    run(600, true);
    expect(Math.abs(clock.nowMs() - machines.redisMs)).toBeLessThanOrEqual(1);
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

  test('[N-8] the clock of a real Redis is the clock that its functions use, independent of the system clock of the node', async () => {
    const HOUR_MS = 3_600_000;
    const timeMs = async () => (await redis.timeMs()) + HOUR_MS;
    const clock = await openRedisClock({ redis: { timeMs }, exchangeLeadMs, logger });
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

  test('[N-8] the clock of a real Redis publishes the service time of this node, and reads the lead of the others', async () => {
    const published: (number | null)[] = [];
    const clock = await openRedisClock({
      redis,
      logger,
      exchangeLeadMs: async (serviceMs) => 70 + published.push(serviceMs),
    });
    try {
      expect(clock.leadMs()).toBe(71);
      clock.publish(() => 42);
      while (published.length < 2) await Bun.sleep(10);
      expect(published).toEqual([null, 42]);
      expect(clock.leadMs()).toBe(72);
    } finally {
      clock.close();
    }
  });

  test('[N-2] the clock of a real Redis waits for an unavailable Redis, and fails on a permanent error', async () => {
    const errors = [new Unavailable('down'), new Unavailable('down')];
    const timeMs = async () => {
      const error = errors.pop();
      if (error) throw error;
      return START_MS;
    };
    const clock = await openRedisClock({ redis: { timeMs }, exchangeLeadMs, logger });
    expect(clock.systemMs()).toBeGreaterThanOrEqual(START_MS - 1);
    clock.close();

    const broken = { timeMs: () => Promise.reject(new Error('no such command')) };
    const error = await openRedisClock({ redis: broken, exchangeLeadMs, logger }).catch(
      (e: Error) => e,
    );
    expect(String(error)).toContain('no such command');
  });
});
