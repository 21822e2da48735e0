import type { RedisValue } from '../../../../server/storage/redis/redis.ts';
import { type Reply, Status } from './commands/command.ts';

const ASCII = /^[\0-\x7f]*$/;

/** The bytes of an argument that a client sends, as a latin1 string. Text is UTF-8. */
export function bytesOfArgument(value: RedisValue): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1');
  }
  return ASCII.test(value) ? value : Buffer.from(value).toString('latin1');
}

/** A reply as the client returns it: bytes as `Uint8Array`. */
export function clientReply(reply: Reply): unknown {
  if (typeof reply === 'string') return Buffer.from(reply, 'latin1');
  if (reply === null || typeof reply === 'number') return reply;
  return reply instanceof Status ? Buffer.from(reply.text) : reply.map(clientReply);
}
