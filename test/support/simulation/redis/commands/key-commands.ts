import type { Database } from '../database.ts';
import { atLeast, type Commands, exactly, OK, parseInteger } from './command.ts';

/** Commands for keys of every type. */
export const KEY_COMMANDS: Commands = {
  EXISTS: atLeast(1, (database, keys) => keys.filter((key) => database.has(key)).length),
  DEL: atLeast(1, (database, keys) => keys.filter((key) => database.delete(key)).length),
  PEXPIRE: exactly(2, (database, [key = '', ms]) =>
    expireAt(database, key, database.nowMs + parseInteger(ms)),
  ),
  PEXPIREAT: exactly(2, (database, [key = '', ms]) => expireAt(database, key, parseInteger(ms))),
  PTTL: exactly(1, (database, [key = '']) => {
    const expiresMs = database.expiresMs(key);
    if (expiresMs === null) return -2;
    return expiresMs === Number.POSITIVE_INFINITY ? -1 : expiresMs - database.nowMs;
  }),
  KEYS: exactly(1, (database, [pattern = '']) => {
    const parts = pattern.split('*').map((part) => part.replace(/[^\w:-]/g, '\\$&'));
    const expression = new RegExp(`^${parts.join('.*')}$`, 's');
    return database.names().filter((key) => expression.test(key));
  }),
  FLUSHALL: exactly(0, (database) => {
    database.clear();
    return OK;
  }),
};

function expireAt(database: Database, key: string, expiresMs: number): number {
  if (database.onExpired !== null && expiresMs <= database.nowMs) {
    database.effect = ['DEL', key];
    return database.delete(key) ? 1 : 0;
  }
  database.effect = ['PEXPIREAT', key, String(expiresMs)];
  return database.expireAt(key, expiresMs) ? 1 : 0;
}
