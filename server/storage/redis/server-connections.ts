import type { RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import type { RedisAddress } from '../../platform/redis-url.ts';
import type { Connection } from './connection.ts';
import { ensureLibrary, evictionPolicy, handshake, requireClock } from './handshake.ts';
import type { Library } from './library.ts';
import { ReconnectingConnection } from './reconnecting-connection.ts';
import type { ConnectionEnvironment } from './transport.ts';

export interface ServerConnectionsOptions {
  /** Name of the server for the log, without credentials. */
  readonly name: string;
  readonly target: RedisAddress;
  readonly connectTo: () => Promise<RedisOptions>;
  readonly library: Library;
  readonly logger: Logger;
  /** @throws RedisConfigurationError when the server is of another kind than the URL says */
  readonly check: (connection: Connection) => Promise<void>;
  /** Whether another server had its keys until now. */
  readonly takesOver: boolean;
  /** By default that of the process. */
  readonly environment?: ConnectionEnvironment | undefined;
}

/**
 * The connections to one primary: one for calls, and one for blocking reads of its log. When calls find
 * the server unavailable, or no longer the primary, the log connection reconnects as well.
 */
export class ServerConnections {
  readonly calls: ReconnectingConnection;
  readonly log: ReconnectingConnection;

  constructor(private readonly options: ServerConnectionsOptions) {
    const { name, target, connectTo, library, logger, check, takesOver, environment } = options;
    this.log = new ReconnectingConnection({
      target: connectTo,
      environment,
      handshake: (connection) => handshake(connection, target),
    });
    this.calls = new ReconnectingConnection({
      target: connectTo,
      takesOver,
      environment,
      handshake: async (connection) => {
        await handshake(connection, target);
        await check(connection);
        await requireClock(connection);
        await ensureLibrary(connection, library);
        await this.warnOfEviction(connection);
      },
      onUnavailable: (reason) => {
        logger.warn({ server: name, reason }, 'Redis is unavailable');
        this.log.reconnect(reason);
      },
      onAvailable: () => {
        logger.info({ server: name }, 'Redis is available again');
        this.log.retryNow();
      },
    });
  }

  // Nobody else would notice: an evicted key looks like one that nobody wrote.
  private async warnOfEviction(connection: Connection): Promise<void> {
    const policy = await evictionPolicy(connection);
    if (policy === null) return;
    const { logger, name } = this.options;
    logger.warn(
      { server: name, policy },
      'Redis removes keys when its memory is full, and with them viewers from counts and posts from ' +
        'the chat: set maxmemory-policy to noeviction',
    );
  }

  /** @throws Unavailable @throws RedisConfigurationError */
  async ready(): Promise<void> {
    await Promise.all([this.calls.ready(), this.log.ready()]);
  }

  /** Drops the connections and opens new ones, perhaps to another server. */
  reconnect(reason: string): void {
    this.calls.reconnect(reason);
    this.log.reconnect(reason);
  }

  unavailableReason(): string | null {
    const reason = this.calls.unavailableReason() ?? this.log.unavailableReason();
    return reason === null ? null : `${this.options.name}: ${reason}`;
  }

  /** Closes the connections because the server has no keys any more. */
  retire(): void {
    const { logger, name } = this.options;
    logger.info({ server: name }, 'this Redis server has no keys any more');
    this.close();
  }

  close(): void {
    this.calls.close();
    this.log.close();
  }
}
