import type { RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { Unavailable } from '../../platform/errors.ts';
import { type HostPort, parseRedisUrl, type RedisAddress } from '../../platform/redis-url.ts';
import { ClusterTopology } from './cluster.ts';
import { ReplyError, SILENCE_MS } from './connection.ts';
import { expectOneServer, greet, isFunctionMissing, loadLibrary } from './greeting.ts';
import { type Library, readLibrary } from './library.ts';
import type { Link, SendOptions } from './link.ts';
import type { FunctionCall, LogEntry, Redis, RedisValue } from './redis.ts';
import { Sentinels } from './sentinels.ts';
import { ServerLinks } from './server-links.ts';
import { nameOf } from './slots.ts';
import { singleTopology, type Topology, watchedTopology } from './topology.ts';

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
const ENTRIES_AT_ONCE = 64;
const REDIRECTIONS_MAX = 3;

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
//   for ever, and its cluster client did not notice that a replica had taken over.
// - The clients of ioredis for clusters and Sentinels find the new primary. But they keep commands
//   for a server that is unavailable and send them later, have no way to send WAIT, TIME and FUNCTION LOAD
//   to the server of a key, and write of Sentinels that are unavailable to standard error.
// - Neither fails all that waits once a server was silent for 250 ms.
// - Both give bytes as Buffers when asked to.
function topologyOf(target: RedisAddress, library: Library, logger: Logger): Topology {
  const { kind, addresses } = target;
  const check = kind === 'single' ? expectOneServer : async () => {};
  const connectTo = ({ host, port }: HostPort): RedisOptions => {
    return { host, port, ...(target.tls ? { tls: {} } : {}) };
  };
  const linksTo = (name: string, address: () => Promise<HostPort>, takesOver = false) => {
    const connect = async () => connectTo(await address());
    const place = { name, target, connectTo: connect, takesOver };
    return new ServerLinks({ ...place, library, logger, check });
  };

  if (kind === 'cluster') {
    return new ClusterTopology({
      seeds: addresses,
      connectTo,
      greet: (connection) => greet(connection, target),
      linksTo: (address, takesOver) => linksTo(nameOf(address), async () => address, takesOver),
    });
  }
  if (kind === 'sentinel') {
    const { primaryName, sentinelUsername, sentinelPassword } = target;
    const identity = { username: sentinelUsername, password: sentinelPassword, databaseNumber: 0 };
    const sentinels = new Sentinels({
      addresses,
      primaryName,
      connectTo,
      greet: (connection) => greet(connection, identity),
    });
    return watchedTopology(
      linksTo(primaryName, () => sentinels.primary()),
      sentinels,
    );
  }
  const [address] = addresses as [HostPort];
  return singleTopology(linksTo(nameOf(address), async () => address));
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
      if (calls.wroteElsewhere()) throw new Unavailable('Redis: the connection was lost meanwhile');
      const confirmed = await confirmedBy(calls, replicas);
      if (confirmed >= replicas) return;
      throw new Unavailable(`Redis: ${confirmed} of ${replicas} replicas have what was written`);
    },
    async timeMs() {
      const reply = await topology.holderOf(CLOCK_KEY).calls.send(['TIME']);
      const [seconds, microseconds] = (reply as [Uint8Array, Uint8Array]).map(Number);
      return (seconds as number) * 1000 + (microseconds as number) / 1000;
    },
    unavailable: () => topology.unavailable(),
    async close() {
      topology.close();
    },
  };
}

/** How many replicas have what was written on this connection, once they are enough or time is up. */
async function confirmedBy(calls: Link, replicas: number): Promise<number> {
  try {
    const silenceMs = REPLICATED_MS + SILENCE_MS;
    return Number(await calls.send(['WAIT', replicas, REPLICATED_MS], { silenceMs }));
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
    // A primary that became a replica says so here.
    calls.leave(error.message);
    throw new Unavailable(`Redis: ${error.message}`);
  }
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
