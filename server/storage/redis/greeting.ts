import type { RedisAddress } from '../../platform/redis-url.ts';
import type { Connection } from './connection.ts';
import { ReplyError } from './connection.ts';
import type { Library } from './library.ts';
import { WrongRedis } from './link.ts';
import type { RedisValue } from './redis.ts';

/** What sends a command to one server. */
interface Sender {
  send(words: readonly RedisValue[]): Promise<unknown>;
}

/** Makes a connection fit for reading: who we are, and which database. */
export async function greet(
  connection: Connection,
  {
    username,
    password,
    databaseNumber,
  }: Pick<RedisAddress, 'username' | 'password' | 'databaseNumber'>,
): Promise<void> {
  if (password !== null) {
    await connection.send(username === null ? ['AUTH', password] : ['AUTH', username, password]);
  }
  await connection.send(['CLIENT', 'SETNAME', 'fourbeat']);
  if (databaseNumber !== 0) await connection.send(['SELECT', databaseNumber]);
}

/** @throws WrongRedis when a server that should be on its own is part of a cluster, or a Sentinel */
export async function expectOneServer(connection: Connection): Promise<void> {
  const mode = /^(?:redis|server)_mode:(\w+)/m.exec(
    String(await connection.send(['INFO', 'server'])),
  );
  if (mode?.[1] !== 'cluster' && mode?.[1] !== 'sentinel') return;
  throw new WrongRedis(`It is a ${mode[1]}: the address begins with redis+${mode[1]}://`);
}

/** A server that lacks the library gets it. @throws ReplyError when it takes no writes now */
export async function provideLibrary(connection: Sender, library: Library): Promise<void> {
  const probe = () => connection.send(['FCALL', library.nameOf('fourbeat_probe'), 0]);
  try {
    await probe();
  } catch (error) {
    if (!isFunctionMissing(error)) throw olderRedis(error);
    await loadLibrary(connection, library);
    await probe();
  }
}

/** Loads the library; another node that was faster has loaded the same. */
export async function loadLibrary(connection: Sender, library: Library): Promise<void> {
  try {
    await connection.send(['FUNCTION', 'LOAD', library.code]);
  } catch (error) {
    if (!(error instanceof ReplyError && /already exists/.test(error.message))) throw error;
  }
}

/** Whether a call failed because the server has lost, or never had, the library. */
export function isFunctionMissing(error: unknown): boolean {
  return error instanceof ReplyError && /^ERR Function not found/i.test(error.message);
}

function olderRedis(error: unknown): unknown {
  if (!(error instanceof ReplyError && /unknown command/i.test(error.message))) return error;
  return new WrongRedis('Functions are missing: it must be Redis 7 or later, or Valkey');
}
