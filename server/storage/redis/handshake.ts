import type { RedisAddress } from '../../platform/redis-url.ts';
import { type Connection, ReplyError } from './connection.ts';
import type { Library } from './library.ts';
import { RedisConfigurationError } from './reconnecting-connection.ts';
import type { RedisValue } from './redis.ts';

interface Sender {
  send(words: readonly RedisValue[]): Promise<unknown>;
}

/** Prepares a connection: credentials, client name and database. */
export async function handshake(
  connection: Connection,
  identity: Pick<RedisAddress, 'username' | 'password' | 'databaseNumber'>,
): Promise<void> {
  const { username, password, databaseNumber } = identity;
  if (password !== null) {
    await connection.send(username === null ? ['AUTH', password] : ['AUTH', username, password]);
  }
  await connection.send(['CLIENT', 'SETNAME', 'fourbeat']);
  if (databaseNumber !== 0) await connection.send(['SELECT', databaseNumber]);
}

/** @throws RedisConfigurationError when the server is part of a cluster, or a Sentinel */
export async function requireSingleServer(connection: Connection): Promise<void> {
  const mode = /^(?:redis|server)_mode:(\w+)/m.exec(
    String(await connection.send(['INFO', 'server'])),
  );
  if (mode?.[1] !== 'cluster' && mode?.[1] !== 'sentinel') return;
  throw new RedisConfigurationError(
    `The server is a ${mode[1]}: start the address with redis+${mode[1]}://`,
  );
}

/** @throws ReplyError when the user may not read the clock: later that would count as an outage */
export async function requireClock(connection: Sender): Promise<void> {
  await connection.send(['TIME']);
}

/** The policy by which the server removes keys when its memory is full; null: it removes none. */
export async function evictionPolicy(connection: Sender): Promise<string | null> {
  const memory = String(await connection.send(['INFO', 'memory']));
  const policy = /^maxmemory_policy:([\w-]+)/m.exec(memory)?.[1] ?? 'noeviction';
  const isLimited = /^maxmemory:[1-9]/m.test(memory);
  return isLimited && policy !== 'noeviction' ? policy : null;
}

/** Loads the library if the server lacks it. @throws ReplyError when it accepts no writes now */
export async function ensureLibrary(connection: Sender, library: Library): Promise<void> {
  const probe = () => connection.send(['FCALL', library.nameOf('fourbeat_probe'), 0]);
  try {
    await probe();
  } catch (error) {
    if (!isFunctionMissing(error)) throw explainMissingFunctions(error);
    await loadLibrary(connection, library);
    await probe();
  }
}

/** Loads the library. It may exist already: another node may have loaded the same. */
export async function loadLibrary(connection: Sender, library: Library): Promise<void> {
  try {
    await connection.send(['FUNCTION', 'LOAD', library.code]);
  } catch (error) {
    if (!(error instanceof ReplyError && /already exists/.test(error.message))) throw error;
  }
}

/** Whether a call failed because the server does not have the library. */
export function isFunctionMissing(error: unknown): boolean {
  return error instanceof ReplyError && /^ERR Function not found/i.test(error.message);
}

function explainMissingFunctions(error: unknown): unknown {
  if (!(error instanceof ReplyError && /unknown command/i.test(error.message))) return error;
  return new RedisConfigurationError(
    'The server has no functions: use Redis 7 or later, or Valkey',
  );
}
