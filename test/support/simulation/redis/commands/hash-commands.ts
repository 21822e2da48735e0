import type { Database, Hash } from '../database.ts';
import { RedisError } from '../redis-error.ts';
import { atLeast, type Commands, exactly, parseInteger, type Reply } from './command.ts';

/** Commands for hashes. */
export const HASH_COMMANDS: Commands = {
  HGET: exactly(2, (database, [key = '', field = '']) => database.hash(key)?.get(field) ?? null),
  HGETALL: exactly(1, getAll),
  HSET: atLeast(3, set),
  HDEL: atLeast(2, remove),
  HINCRBY: exactly(3, increment),
};

function getAll(database: Database, [key = '']: readonly string[]): Reply {
  const reply: string[] = [];
  for (const [field, value] of database.hash(key) ?? []) reply.push(field, value);
  return reply;
}

function set(database: Database, [key = '', ...pairs]: readonly string[]): Reply {
  if (pairs.length % 2 !== 0) {
    throw new RedisError("ERR wrong number of arguments for 'hset' command");
  }
  const hash = createdHash(database, key);
  const sizeBefore = hash.size;
  for (let at = 0; at < pairs.length; at += 2) hash.set(pairs[at] ?? '', pairs[at + 1] ?? '');
  database.changes += 1;
  return hash.size - sizeBefore;
}

function remove(database: Database, [key = '', ...fields]: readonly string[]): Reply {
  const hash = database.hash(key);
  if (!hash) return 0;
  const removed = fields.filter((field) => hash.delete(field)).length;
  database.changes += removed;
  if (hash.size === 0) database.delete(key);
  return removed;
}

function increment(database: Database, [key = '', field = '', by]: readonly string[]): Reply {
  const addend = parseInteger(by);
  const current = database.hash(key)?.get(field) ?? '0';
  if (!/^(?:0|-?[1-9]\d*)$/.test(current)) throw new RedisError('ERR hash value is not an integer');
  const sum = Number(current) + addend;
  createdHash(database, key).set(field, String(sum));
  database.changes += 1;
  return sum;
}

function createdHash(database: Database, key: string): Hash {
  const existing = database.hash(key);
  if (existing) return existing;
  const hash: Hash = new Map();
  database.set(key, hash);
  return hash;
}
