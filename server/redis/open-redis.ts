import type { RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { Unavailable } from '../refusal.ts';
import { greet, isFunctionMissing, loadLibrary, provideLibrary } from './greeting.ts';
import { type Library, readLibrary } from './library.ts';
import { Link } from './link.ts';
import type { FunctionCall, LogEntry, Redis } from './redis.ts';
import { parseRedisUrl } from './redis-url.ts';

export interface OpenRedisOptions {
  readonly url: string;
  /** Replicas that must have a write before `replicated` is content. */
  readonly replicas: number;
  readonly logger: Logger;
  /** The functions; else those of this release. */
  readonly library?: Library;
}

const REPLICATED_MS = 200;
const SILENCE_MS = 250;

export async function openRedis(options: OpenRedisOptions): Promise<Redis> {
  const { url, replicas, logger } = options;
  const target = parseRedisUrl(url);
  const library = options.library ?? readLibrary();
  const [address] = target.addresses;
  if (!address || target.kind !== 'single') throw new Error('not done yet');
  const to = (): RedisOptions => ({ host: address.host, port: address.port });
  const name = `${address.host}:${address.port}`;
  const calls = new Link({
    name,
    target: to,
    logger,
    greet: async (connection) => {
      await greet(connection, target);
      await provideLibrary(connection, library);
    },
  });
  const log = new Link({ name, target: to, logger, greet: (c) => greet(c, target) });
  const close = async () => {
    calls.close();
    log.close();
  };
  try {
    await calls.opened();
    await log.opened();
  } catch (error) {
    await close();
    throw error;
  }
  const wordsOf = (call: FunctionCall) => [
    'FCALL',
    library.nameOf(call.name),
    call.keys.length,
    ...call.keys,
    ...call.values,
  ];
  async function call(one: FunctionCall): Promise<unknown> {
    const words = wordsOf(one);
    try {
      return await calls.send(words);
    } catch (error) {
      if (!isFunctionMissing(error)) throw error;
      await loadLibrary(calls, library);
      return await calls.send(words);
    }
  }
  return {
    call,
    callAll: (all) => {
      calls.cork();
      return Promise.all(all.map(call));
    },
    async readLog(key, id, waitMs) {
      const words = ['XREAD', 'COUNT', 100, 'BLOCK', Math.max(1, Math.ceil(waitMs))];
      const reply = await log.send([...words, 'STREAMS', key, id], waitMs + SILENCE_MS);
      return entriesOf(reply);
    },
    async replicated() {
      if (replicas === 0) return;
      const confirmed = await calls.send(['WAIT', replicas, REPLICATED_MS], REPLICATED_MS + 250);
      if (Number(confirmed) < replicas) throw new Unavailable('Too few replicas of Redis.');
    },
    async timeMs() {
      const [seconds, micros] = (await calls.send(['TIME'])) as [Buffer, Buffer];
      return Number(seconds) * 1000 + Number(micros) / 1000;
    },
    away: () => calls.away() ?? log.away(),
    close,
  };
}

function entriesOf(reply: unknown): LogEntry[] {
  if (reply === null) return [];
  const [[, entries]] = reply as [[Buffer, [Buffer, [Buffer, Buffer]][]]];
  return entries.map(([id, [, value]]) => ({ id: id.toString(), value }));
}
