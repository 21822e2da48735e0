import type { Database } from '../database.ts';
import { RedisError, syntaxError } from '../redis-error.ts';
import { atLeast, type Commands, exactly, OK, parseInteger, type Reply } from './command.ts';

const BIT_OFFSET_END = 2 ** 32;

/** Commands for strings and bitsets. */
export const STRING_COMMANDS: Commands = {
  SET: atLeast(2, set),
  GET: exactly(1, (database, [key = '']) => {
    const value = database.string(key);
    return value === undefined ? null : textOf(value);
  }),
  SETBIT: exactly(3, setBit),
  BITOP: atLeast(3, uniteBits),
  BITCOUNT: exactly(1, (database, [key = '']) => countBits(bytesOf(database.string(key) ?? ''))),
};

function set(
  database: Database,
  [key = '', value = '', unit, time, ...others]: readonly string[],
): Reply {
  if (others.length > 0) throw syntaxError();
  if (unit === undefined) {
    database.set(key, value);
    return OK;
  }
  if (time === undefined || (unit !== 'PX' && unit !== 'PXAT')) throw syntaxError();
  const ms = parseInteger(time);
  if (ms <= 0) throw new RedisError("ERR invalid expire time in 'set' command");
  const expiresMs = unit === 'PX' ? database.nowMs + ms : ms;
  database.set(key, value, expiresMs);
  database.effect = ['SET', key, value, 'PXAT', String(expiresMs)];
  return OK;
}

function setBit(
  database: Database,
  [key = '', offsetText = '', bitText]: readonly string[],
): Reply {
  const offset = /^\d+$/.test(offsetText) ? Number(offsetText) : BIT_OFFSET_END;
  if (offset >= BIT_OFFSET_END) {
    throw new RedisError('ERR bit offset is not an integer or out of range');
  }
  if (bitText !== '0' && bitText !== '1') {
    throw new RedisError('ERR bit is not an integer or out of range');
  }
  const stored = database.string(key) ?? '';
  const byte = Math.floor(offset / 8);
  const bytes = withLength(stored, byte + 1);
  if (bytes !== stored) database.replace(key, bytes);
  const mask = 0x80 >> (offset % 8);
  const current = bytes[byte] as number;
  bytes[byte] = bitText === '1' ? current | mask : current & ~mask;
  database.changes += 1;
  return current & mask ? 1 : 0;
}

/** The bytes of a string, at least so many. The result is the stored array when it is long enough. */
function withLength(stored: string | Uint8Array, lengthMin: number): Uint8Array {
  if (typeof stored !== 'string' && stored.length >= lengthMin) return stored;
  const bytes = new Uint8Array(Math.max(stored.length, lengthMin));
  bytes.set(bytesOf(stored));
  return bytes;
}

function uniteBits(
  database: Database,
  [operation, target = '', ...keys]: readonly string[],
): Reply {
  if (operation !== 'OR') throw new RedisError(`ERR the model has no BITOP ${operation}`);
  const sources = keys.map((key) => bytesOf(database.string(key) ?? ''));
  const united = new Uint8Array(Math.max(...sources.map(({ length }) => length)));
  for (const source of sources) {
    for (let at = 0; at < source.length; at += 1)
      united[at] = (united[at] ?? 0) | (source[at] ?? 0);
  }
  if (united.length > 0) database.set(target, united);
  else database.delete(target);
  return united.length;
}

function countBits(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at += 1) count += BITS_OF_BYTE[bytes[at] as number] as number;
  return count;
}

const BITS_OF_BYTE = Uint8Array.from({ length: 256 }, (_, byte) =>
  [0, 1, 2, 3, 4, 5, 6, 7].reduce((sum, bit) => sum + ((byte >> bit) & 1), 0),
);

function bytesOf(value: string | Uint8Array): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value, 'latin1') : value;
}

function textOf(value: string | Uint8Array): string {
  return typeof value === 'string' ? value : Buffer.from(value).toString('latin1');
}
