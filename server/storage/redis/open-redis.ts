import type { RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { Unavailable } from '../../platform/errors.ts';
import { type HostPort, parseRedisUrl, type RedisAddress } from '../../platform/redis-url.ts';
import { ClusterTopology } from './cluster.ts';
import { ReplyError, SILENCE_TIMEOUT_MS } from './connection.ts';
import { handshake, isFunctionMissing, loadLibrary, requireSingleServer } from './handshake.ts';
import { createLibrary, type Library } from './library.ts';
import type { ReconnectingConnection, SendOptions } from './reconnecting-connection.ts';
import type { FunctionCall, LogEntry, Redis, RedisValue } from './redis.ts';
import { Sentinels } from './sentinels.ts';
import { ServerConnections } from './server-connections.ts';
import { serverName } from './slots.ts';
import { sentinelTopology, singleTopology, type Topology } from './topology.ts';
import type { ConnectionEnvironment } from './transport.ts';

export interface OpenRedisOptions {
  /** In the format of `parseRedisUrl`. */
  readonly url: string;
  /** Replicas that `waitForReplicas` waits for; 0 for none. */
  readonly replicas: number;
  readonly logger: Logger;
  /** The functions; by default those of this release. */
  readonly library?: Library;
  /** Of the connections to a single server; by default that of the process. */
  readonly environment?: ConnectionEnvironment;
}

/** The server of this key has the clock of the service; the keys of sealing are on the same server. */
const CLOCK_KEY = '{fourbeat}';
/** Redis checks timeouts every 100 ms, so the reply arrives within 300 ms. */
const REPLICATION_TIMEOUT_MS = 150;
const ENTRIES_PER_READ = 64;
const REDIRECTIONS_MAX = 3;

/**
 * Connects to Redis or Valkey. Connections that are lost later are opened again automatically.
 * @throws Unavailable when it cannot be reached now
 * @throws RedisConfigurationError with a line for the operator when a retry cannot help: a wrong
 *   password, a version without functions
 * @throws Error when the URL is invalid
 */
export async function openRedis(options: OpenRedisOptions): Promise<Redis> {
  const library = options.library ?? createLibrary();
  const topology = createTopology(parseRedisUrl(options.url), library, options);
  try {
    await topology.ready();
  } catch (error) {
    topology.close();
    throw error;
  }
  return createRedis(topology, library, options.replicas);
}

// Only the single connection of ioredis is used; reconnects and failover are ours. Tested under Bun
// with a stopped server (SIGSTOP), killed servers, Sentinels and a cluster:
// - node-redis has no timeout for a command that it has written, so a command to a stopped server waits
//   forever, and its cluster client did not notice a failover.
// - The cluster and Sentinel clients of ioredis find the new primary. But they queue commands for an
//   unavailable server and send them later, cannot send WAIT, TIME and FUNCTION LOAD to the server of a
//   key, and print errors about unavailable Sentinels to standard error.
// - Neither fails all pending commands once a server was silent for 250 ms.
// - Both can return bytes as Buffers.
function createTopology(
  target: RedisAddress,
  library: Library,
  { logger, environment }: OpenRedisOptions,
): Topology {
  const { kind, addresses } = target;
  const check = kind === 'single' ? requireSingleServer : async () => {};
  const connectTo = ({ host, port }: HostPort): RedisOptions => {
    return { host, port, ...(target.tls ? { tls: {} } : {}) };
  };
  const connectionsTo = (name: string, address: () => Promise<HostPort>, takesOver = false) => {
    return new ServerConnections({
      ...{ name, target, takesOver, library, logger, check, environment },
      connectTo: async () => connectTo(await address()),
    });
  };

  if (kind === 'cluster') {
    return new ClusterTopology({
      seeds: addresses,
      connectTo,
      handshake: (connection) => handshake(connection, target),
      connectionsTo: (address, takesOver) =>
        connectionsTo(serverName(address), async () => address, takesOver),
    });
  }
  if (kind === 'sentinel') {
    const { primaryName, sentinelUsername, sentinelPassword } = target;
    const identity = { username: sentinelUsername, password: sentinelPassword, databaseNumber: 0 };
    const sentinels = new Sentinels({
      addresses,
      primaryName,
      connectTo,
      handshake: (connection) => handshake(connection, identity),
    });
    return sentinelTopology(
      connectionsTo(primaryName, () => sentinels.primary()),
      sentinels,
    );
  }
  const [address] = addresses as [HostPort];
  return singleTopology(connectionsTo(serverName(address), async () => address));
}

function createRedis(topology: Topology, library: Library, replicas: number): Redis {
  /** Sends a command to the server of a key, and follows redirections. */
  async function sendToServerOf(
    connection: 'calls' | 'log',
    key: string,
    words: readonly RedisValue[],
    options: SendOptions = {},
  ): Promise<unknown> {
    let server = topology.serverFor(key);
    let isAsking = false;
    for (let redirections = 0; ; redirections += 1) {
      try {
        return await server[connection].send(words, { ...options, isAsking });
      } catch (error) {
        if (!(error instanceof ReplyError)) throw error;
        const redirection = topology.handleRedirection(error, server);
        if (redirection && redirections < REDIRECTIONS_MAX) {
          ({ to: server, isAsking } = redirection);
        } else if (isFunctionMissing(error) && redirections < REDIRECTIONS_MAX) {
          await loadLibrary(server.calls, library);
        } else {
          throw TRANSIENT_CODES.has(error.code)
            ? new Unavailable(`Redis: ${error.message}`)
            : error;
        }
      }
    }
  }

  function call({ name, keys, values }: FunctionCall): Promise<unknown> {
    const words = ['FCALL', library.nameOf(name), keys.length, ...keys, ...values];
    return sendToServerOf('calls', keyOf(keys), words);
  }

  return {
    call,
    async callAll(calls) {
      for (const server of new Set(calls.map(({ keys }) => topology.serverFor(keyOf(keys))))) {
        server.calls.cork();
      }
      return Promise.all(calls.map(call));
    },
    async readLog(key, id, waitMs) {
      const blockMs = Math.max(1, Math.ceil(waitMs));
      const words = ['XREAD', 'COUNT', ENTRIES_PER_READ, 'BLOCK', blockMs, 'STREAMS', key, id];
      return parseEntries(
        await sendToServerOf('log', key, words, { silenceMs: blockMs + SILENCE_TIMEOUT_MS }),
      );
    },
    async waitForReplicas(key) {
      if (replicas === 0) return;
      const { calls } = topology.serverFor(key);
      if (calls.mayHaveLostWrites())
        throw new Unavailable('Redis: the connection was lost before the replicas confirmed');
      const confirmed = await countConfirmingReplicas(calls, replicas);
      if (confirmed >= replicas) return;
      throw new Unavailable(`Redis: ${confirmed} of ${replicas} replicas have the write`);
    },
    async timeMs() {
      const reply = await topology.serverFor(CLOCK_KEY).calls.send(['TIME']);
      const [seconds, microseconds] = (reply as [Uint8Array, Uint8Array]).map(Number);
      return (seconds as number) * 1000 + (microseconds as number) / 1000;
    },
    unavailableReason: () => topology.unavailableReason(),
    async close() {
      topology.close();
    },
  };
}

/** Waits until enough replicas have the writes of this connection, or the timeout. @returns how many */
async function countConfirmingReplicas(
  calls: ReconnectingConnection,
  replicas: number,
): Promise<number> {
  try {
    const silenceMs = REPLICATION_TIMEOUT_MS + SILENCE_TIMEOUT_MS;
    return Number(await calls.send(['WAIT', replicas, REPLICATION_TIMEOUT_MS], { silenceMs }));
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error;
    // A primary that became a replica replies with an error here.
    calls.reconnect(error.message);
    throw new Unavailable(`Redis: ${error.message}`);
  }
}

// Errors of a cluster that moves slots, or whose slots are unavailable.
const TRANSIENT_CODES = new Set(['MOVED', 'ASK', 'TRYAGAIN', 'CLUSTERDOWN', 'UNBLOCKED']);

function keyOf(keys: readonly string[]): string {
  return keys[0] ?? CLOCK_KEY;
}

function parseEntries(reply: unknown): LogEntry[] {
  if (reply === null) return [];
  const [[, entries]] = reply as [[Buffer, [Buffer, [Buffer, Buffer]][]]];
  return entries.map(([id, [, value]]) => ({ id: id.toString(), value }));
}
