import type { Redis } from '../server/storage/redis/redis.ts';
import type { RedisServer } from '../test/support/backends/redis.ts';

/** Work of a Redis server since its start, or between two readings. */
export interface RedisWork {
  /** CPU time of the process, in ms. */
  readonly cpuMs: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Commands that nodes sent: function calls, reads of the log and WAIT, without commands inside functions. */
  readonly commands: number;
}

// The commands that nodes send for their work. Redis also counts the commands that functions call.
const NODE_COMMANDS = ['fcall', 'xread', 'wait'];

export async function readWork(server: RedisServer): Promise<RedisWork> {
  const info = String(await server.command('INFO', 'everything'));
  const number = (name: string, from = ':') =>
    Number(new RegExp(`^${name}${from}([\\d.]+)`, 'm').exec(info)?.[1] ?? 0);
  return {
    cpuMs: (number('used_cpu_user') + number('used_cpu_sys')) * 1_000,
    bytesIn: number('total_net_input_bytes'),
    bytesOut: number('total_net_output_bytes'),
    commands: NODE_COMMANDS.reduce((sum, name) => sum + number(`cmdstat_${name}`, ':calls='), 0),
  };
}

/** The work between two readings. */
export function workBetween(before: RedisWork, after: RedisWork): RedisWork {
  return {
    cpuMs: after.cpuMs - before.cpuMs,
    bytesIn: after.bytesIn - before.bytesIn,
    bytesOut: after.bytesOut - before.bytesOut,
    commands: after.commands - before.commands,
  };
}

/** Wraps a Redis connection and counts its round trips. */
export function countTrips(redis: Redis, trips: { total: number }): Redis {
  const counted =
    <A extends unknown[], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      trips.total += 1;
      return call(...args);
    };
  return {
    ...redis,
    call: counted(redis.call),
    callAll: counted(redis.callAll),
    readLog: counted(redis.readLog),
    timeMs: counted(redis.timeMs),
  };
}
