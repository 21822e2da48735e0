import type { FunctionLibrary } from '../function-library.ts';
import { RedisError } from '../redis-error.ts';
import { atLeast, type Commands, exactly, OK, parseInteger, Status } from './command.ts';

export interface ServerState {
  /** Unix ms, with fractions. */
  readonly timeMs: () => number;
  readonly runId: () => string;
  readonly functions: FunctionLibrary;
}

/** Commands for the server, and those with which clients prepare a connection. */
export function serverCommands({ timeMs, runId, functions }: ServerState): Commands {
  return {
    PING: exactly(0, () => new Status('PONG')),
    TIME: exactly(0, () => {
      const nowMs = timeMs();
      const seconds = Math.floor(nowMs / 1_000);
      return [String(seconds), String(Math.floor((nowMs - seconds * 1_000) * 1_000))];
    }),
    INFO: atLeast(
      0,
      () =>
        `# Server\r\nredis_mode:standalone\r\nrun_id:${runId()}\r\n` +
        `# Commandstats\r\ncmdstat_fcall:calls=${functions.calls}\r\n`,
    ),
    CLIENT: atLeast(1, () => OK),
    SELECT: exactly(1, () => OK),
    FUNCTION: exactly(2, (_, [subcommand, code = '']) => {
      if (subcommand?.toUpperCase() === 'LOAD') return functions.load(code);
      throw new RedisError(`ERR unknown subcommand '${subcommand}'`);
    }),
    FCALL: atLeast(2, (_, [name = '', count, ...words]) => {
      const keys = parseInteger(count);
      if (keys < 0 || keys > words.length) {
        throw new RedisError("ERR Number of keys can't be greater than number of args");
      }
      return functions.call(name, words.slice(0, keys), words.slice(keys));
    }),
  };
}
