import type { RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { Unavailable } from '../refusal.ts';
import { ClusterTopology } from './cluster.ts';
import { ReplyError, SILENCE_MS } from './connection.ts';
import { expectOneServer, greet, isFunctionMissing, loadLibrary } from './greeting.ts';
import { type Library, readLibrary } from './library.ts';
import type { SendOptions } from './link.ts';
import type { FunctionCall, LogEntry, Redis, RedisValue } from './redis.ts';
import { type Address, parseRedisUrl, type RedisTarget } from './redis-url.ts';
import { ServerLinks } from './server-links.ts';
import { nameOf } from './slots.ts';
import { singleTopology, type Topology } from './topology.ts';

export interface OpenRedisOptions {
  /** As `parseRedisUrl` takes it. */
  readonly url: string;
  /** Replicas that must have a write before `replicated` is content; 0 for none. */
  readonly replicas: number;
  readonly logger: Logger;
  /** The functions; else those of this release. */
  readonly library?: Library;
}

/** The key whose server's clock is the service's: all that concerns sealing is beside it. */
const CLOCK_KEY = '{fourbeat}';
// Redis looks at the clock every 100 ms: with those the answer is there within 300 ms.
const REPLICATED_MS = 150;
const ENTRIES_AT_ONCE = 256;
const REDIRECTIONS_MAX = 3;
const LOOK_AT_SENTINELS_MS = 1_000;

/**
 * Connects to Redis or Valkey. From here on its connections are made again by themselves.
 * @throws Unavailable when it cannot be reached now @throws WrongRedis with a line for the operator,
 *   when waiting does not help: a wrong password, a version without functions
 * @throws Error when the address is wrong
 */
export async function openRedis(options: OpenRedisOptions): Promise<Redis> {
  const library = options.library ?? readLibrary();
  const topology = topologyOf(parseRedisUrl(options.url), library, options.logger);
  try {
    await topology.opened();
  } catch (error) {
    topology.close();
    throw error;
  }
  return redisOn(topology, library, options.replicas);
}

// The client is ioredis, and of it a connection alone; what to make of its end is ours. Tried under
// Bun with a stopped server (SIGSTOP), killed servers, Sentinels and a cluster:
// - node-redis lets no command time out that it has written, so that one to a stopped server waits
//   for ever, and its cluster client did not notice that a replica had taken over. A stop of 250 ms
//   also has to fail everything that waits, which neither client does.
// - The cluster client of ioredis finds the new primary, when commands time out and slots are asked
//   for by the clock. But it keeps commands for a server that is away and sends them later, and it
//   has no way to send WAIT, TIME and FUNCTION LOAD to the server of a key.
// - Both give bytes as Buffers when asked to, and 100,000 calls a second.
function topologyOf(target: RedisTarget, library: Library, logger: Logger): Topology {
  const { tls, addresses } = target;
  const secure = tls ? { tls: {} } : {};
  const links = (name: string, connectTo: (attempt: number) => RedisOptions) =>
    new ServerLinks({ name, target, connectTo, library, logger, check: checkOf(target) });

  if (target.kind === 'sentinel') {
    const name = `${target.primaryName} by ${addresses.map(nameOf).join(', ')}`;
    return singleTopology(links(name, (attempt) => sentinelOptions(target, attempt)));
  }
  if (target.kind === 'cluster') {
    return new ClusterTopology({
      seeds: addresses,
      connectTo: ({ host, port }) => ({ host, port, ...secure }),
      greet: (connection) => greet(connection, target),
      linksTo: (address) => links(nameOf(address), () => ({ ...address, ...secure })),
    });
  }
  const [address] = addresses as [Address];
  return singleTopology(links(nameOf(address), () => ({ ...address, ...secure })));
}

function checkOf({ kind }: RedisTarget) {
  return kind === 'single' ? expectOneServer : async () => {};
}

/** Another Sentinel is asked first each time: the first may be the one that does not answer. */
function sentinelOptions(target: RedisTarget, attempt: number): RedisOptions {
  const { addresses, tls, sentinelUsername, sentinelPassword } = target;
  const turn = attempt % addresses.length;
  return {
    sentinels: [...addresses.slice(turn), ...addresses.slice(0, turn)],
    name: target.primaryName,
    sentinelCommandTimeout: SILENCE_MS,
    sentinelRetryStrategy: () => null,
    // The Sentinels tell of a failover, also when the old primary still answers us.
    failoverDetector: true,
    sentinelReconnectStrategy: () => LOOK_AT_SENTINELS_MS,
    ...(sentinelUsername === null ? {} : { sentinelUsername }),
    ...(sentinelPassword === null ? {} : { sentinelPassword }),
    ...(tls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
  };
}

function redisOn(topology: Topology, library: Library, replicas: number): Redis {
  /** Sends a command to the server of a key, or to where that says the key is now. */
  async function ask(
    way: 'calls' | 'log',
    key: string,
    words: readonly RedisValue[],
    options: SendOptions = {},
  ): Promise<unknown> {
    let links = topology.holderOf(key);
    let isAsking = false;
    for (let redirections = 0; ; redirections += 1) {
      try {
        return await links[way].send(words, { ...options, isAsking });
      } catch (error) {
        if (!(error instanceof ReplyError)) throw error;
        const elsewhere = topology.redirected(error, links);
        if (elsewhere && redirections < REDIRECTIONS_MAX) {
          ({ to: links, isAsking } = elsewhere);
        } else if (isFunctionMissing(error) && redirections < REDIRECTIONS_MAX) {
          await loadLibrary(links.calls, library);
        } else {
          throw PASSING.has(error.code) ? new Unavailable(`Redis: ${error.message}`) : error;
        }
      }
    }
  }

  function call({ name, keys, values }: FunctionCall): Promise<unknown> {
    const words = ['FCALL', library.nameOf(name), keys.length, ...keys, ...values];
    return ask('calls', keyOf(keys), words);
  }

  return {
    call,
    async callAll(calls) {
      for (const links of new Set(calls.map(({ keys }) => topology.holderOf(keyOf(keys))))) {
        links.calls.cork();
      }
      return Promise.all(calls.map(call));
    },
    async readLog(key, id, waitMs) {
      const blockMs = Math.max(1, Math.ceil(waitMs));
      const words = ['XREAD', 'COUNT', ENTRIES_AT_ONCE, 'BLOCK', blockMs, 'STREAMS', key, id];
      return entriesOf(await ask('log', key, words, { silenceMs: blockMs + SILENCE_MS }));
    },
    async replicated(key) {
      if (replicas === 0) return;
      const { calls } = topology.holderOf(key);
      if (calls.wroteElsewhere())
        throw new Unavailable('Redis: the connection was lost meanwhile.');
      const silenceMs = REPLICATED_MS + SILENCE_MS;
      const confirmed = Number(await calls.send(['WAIT', replicas, REPLICATED_MS], { silenceMs }));
      if (confirmed >= replicas) return;
      throw new Unavailable(`Redis: ${confirmed} of ${replicas} replicas have what was written.`);
    },
    async timeMs() {
      const reply = await topology.holderOf(CLOCK_KEY).calls.send(['TIME']);
      const [seconds, microseconds] = (reply as [Uint8Array, Uint8Array]).map(Number);
      return (seconds as number) * 1000 + (microseconds as number) / 1000;
    },
    away: () => topology.away(),
    async close() {
      topology.close();
    },
  };
}

// Errors of a cluster that moves slots or has lost some.
const PASSING = new Set(['MOVED', 'ASK', 'TRYAGAIN', 'CLUSTERDOWN', 'UNBLOCKED']);

function keyOf(keys: readonly string[]): string {
  return keys[0] ?? CLOCK_KEY;
}

function entriesOf(reply: unknown): LogEntry[] {
  if (reply === null) return [];
  const [[, entries]] = reply as [[Buffer, [Buffer, [Buffer, Buffer]][]]];
  return entries.map(([id, [, value]]) => ({ id: id.toString(), value }));
}
