import pino from 'pino';
import { createLibrary } from '../../../server/storage/redis/library.ts';
import { openRedis } from '../../../server/storage/redis/open-redis.ts';
import type { FunctionCall, Redis } from '../../../server/storage/redis/redis.ts';
import type { RedisServer } from './redis.ts';

/** Test functions, instead of the library of the service. */
export const TEST_LIBRARY = createLibrary(`
define('fourbeat_probe', function()
  return 1
end)
define('fourbeat_echo', function(keys, values)
  return {keys[1], values[1], 7, false, {values[2] or ''}}
end)
define('fourbeat_set', function(keys, values)
  redis.call('SET', keys[1], values[1])
  return redis.call('GET', keys[1])
end)
define('fourbeat_append', function(keys, values)
  redis.call('XADD', keys[1], values[1], 'body', values[2])
end)
define('fourbeat_spin', function(keys, values)
  for _ = 1, values[1] do end
end)
`);
const SPIN = 'for _ = 1, ARGV[1] do end';

/** Connects with the test functions. The caller closes the connection. */
export function openTestRedis(
  url: string,
  { replicas = 0, log = [] }: { replicas?: number; log?: string[] } = {},
): Promise<Redis> {
  const logger = pino({ level: 'info' }, { write: (line) => void log.push(line) });
  return openRedis({ url, replicas, logger, library: TEST_LIBRARY });
}

/** A call that writes `value` at `key` and returns it. */
export function setCall(key: string, value = 'x'): FunctionCall {
  return { name: 'fourbeat_set', keys: [key], values: [value] };
}

const TICK_MS = 10;
const RECOVERY_MAX_MS = 10_000;

/**
 * Measures a call. `end` is its result or error, and `ms` its duration without the time in which this
 * process was stalled, because a stalled process cannot notice that a server is silent.
 */
export async function timed(work: Promise<unknown>): Promise<{ end: unknown; ms: number }> {
  let ms = 0;
  let lastMs = performance.now();
  const count = () => {
    const nowMs = performance.now();
    ms += Math.min(nowMs - lastMs, 2 * TICK_MS);
    lastMs = nowMs;
  };
  const timer = setInterval(count, TICK_MS);
  const end = await work.catch((error) => error);
  clearInterval(timer);
  count();
  return { end, ms };
}

/**
 * Number of spins that keep the server busy for at least about `busyMs`. It is measured by a client
 * that waits for any time, since a busy machine makes the server silent for longer than `Redis` waits.
 */
export async function spinCountFor(server: RedisServer, busyMs: number): Promise<number> {
  for (let turns = 100_000; ; turns *= 2) {
    const spentMs = await fastestRunMs(server, turns);
    if (spentMs >= busyMs / 2) return Math.round((turns * busyMs) / spentMs);
  }
}

/** The fastest of a few runs, since the machine may be busy in some. */
async function fastestRunMs(server: RedisServer, turns: number): Promise<number> {
  let minimumMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 4; tries += 1) {
    const startMs = performance.now();
    await server.command('EVAL', SPIN, 0, turns);
    minimumMs = Math.min(minimumMs, performance.now() - startMs);
  }
  return minimumMs;
}

/** A call that keeps the server busy, and is so large that the server reads it separately. */
export function spinCall(turns: number): FunctionCall {
  return { name: 'fourbeat_spin', keys: ['{fourbeat}'], values: [turns, 'x'.repeat(50_000)] };
}

/** Waits until all connections are healthy. @returns the duration in ms; Infinity on timeout */
export function waitUntilHealthy(redis: Redis): Promise<number> {
  return durationUntil(async () => redis.unavailableReason() === null);
}

/** Waits until a call succeeds. @returns the duration in ms; Infinity on timeout */
export function waitUntilWritable(redis: Redis, key: string): Promise<number> {
  return durationUntil(() =>
    redis.call(setCall(key)).then(
      () => true,
      () => false,
    ),
  );
}

async function durationUntil(condition: () => Promise<boolean>): Promise<number> {
  const startMs = performance.now();
  while (performance.now() - startMs < RECOVERY_MAX_MS) {
    if (await condition()) return performance.now() - startMs;
    await Bun.sleep(5);
  }
  return Number.POSITIVE_INFINITY;
}
