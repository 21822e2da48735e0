import pino from 'pino';
import { libraryOf } from '../../server/redis/library.ts';
import { openRedis } from '../../server/redis/open-redis.ts';
import type { FunctionCall, Redis } from '../../server/redis/redis.ts';

/** Functions that show what became of a call; in place of the service's own. */
export const TEST_LIBRARY = libraryOf(`
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
define('fourbeat_stall', function(keys, values)
  local function ms()
    local time = redis.call('TIME')
    return time[1] * 1000 + time[2] / 1000
  end
  local untilMs = ms() + values[1]
  while ms() < untilMs do end
end)
`);

/** Opens a connection with the test's functions; `close` it. */
export function openTestRedis(
  url: string,
  { replicas = 0, log = [] }: { replicas?: number; log?: string[] } = {},
): Promise<Redis> {
  const logger = pino({ level: 'info' }, { write: (line) => void log.push(line) });
  return openRedis({ url, replicas, logger, library: TEST_LIBRARY });
}

/** A call that writes `value` at `key` and answers with it. */
export function setCall(key: string, value = 'x'): FunctionCall {
  return { name: 'fourbeat_set', keys: [key], values: [value] };
}

/** How something ended, and after how many ms. */
export async function timed(work: Promise<unknown>): Promise<{ end: unknown; ms: number }> {
  const startMs = performance.now();
  const end = await work.catch((error) => error);
  return { end, ms: performance.now() - startMs };
}

/** Waits until all connections are well again. @returns after how many ms; Infinity when never */
export async function wellMs(redis: Redis, mostMs = 10_000): Promise<number> {
  const startMs = performance.now();
  while (redis.away() !== null && performance.now() - startMs < mostMs) await Bun.sleep(5);
  return redis.away() === null ? performance.now() - startMs : Number.POSITIVE_INFINITY;
}

/** Waits until a call goes through. @returns after how many ms; Infinity when it never does */
export async function healedMs(redis: Redis, key: string, mostMs = 10_000): Promise<number> {
  const startMs = performance.now();
  while (performance.now() - startMs < mostMs) {
    const end = await redis.call(setCall(key)).catch((error: Error) => error);
    if (!(end instanceof Error)) return performance.now() - startMs;
    await Bun.sleep(5);
  }
  return Number.POSITIVE_INFINITY;
}
