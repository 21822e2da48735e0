import type { RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import type { RedisAddress } from '../../platform/redis-url.ts';
import type { Connection } from './connection.ts';
import { greet, provideLibrary } from './greeting.ts';
import type { Library } from './library.ts';
import { Link } from './link.ts';

export interface ServerLinksOptions {
  /** For people: which server, without credentials. */
  readonly name: string;
  readonly target: RedisAddress;
  readonly connectTo: () => Promise<RedisOptions>;
  readonly library: Library;
  readonly logger: Logger;
  /** @throws when the server is of another kind than the address says */
  readonly check: (connection: Connection) => Promise<void>;
  /** Whether its keys were another server's until now. */
  readonly takesOver: boolean;
}

/**
 * Our ways to one server that takes writes: one for calls, and one for reading its log, which waits.
 * When calls find the server lost, or no longer the primary, the reading leaves it as well.
 */
export class ServerLinks {
  readonly calls: Link;
  readonly log: Link;

  constructor(private readonly options: ServerLinksOptions) {
    const { name, target, connectTo, library, logger, check, takesOver } = options;
    this.log = new Link({
      target: connectTo,
      greet: (connection) => greet(connection, target),
    });
    this.calls = new Link({
      target: connectTo,
      takesOver,
      greet: async (connection) => {
        await greet(connection, target);
        await check(connection);
        await provideLibrary(connection, library);
      },
      onUnavailable: (reason) => {
        logger.warn({ server: name, reason }, 'Redis is unavailable');
        this.log.leave(reason);
      },
      onBack: () => {
        logger.info({ server: name }, 'Redis is back');
        this.log.hurry();
      },
    });
  }

  /** @throws Unavailable @throws WrongRedis */
  async opened(): Promise<void> {
    await Promise.all([this.calls.opened(), this.log.opened()]);
  }

  /** Leaves the server, for one that may be better. */
  leave(reason: string): void {
    this.calls.leave(reason);
    this.log.leave(reason);
  }

  unavailable(): string | null {
    const reason = this.calls.unavailable() ?? this.log.unavailable();
    return reason === null ? null : `${this.options.name}: ${reason}`;
  }

  /** Another server has its keys now. */
  retire(): void {
    const { logger, name } = this.options;
    logger.info({ server: name }, 'this server of Redis has no keys any more');
    this.close();
  }

  close(): void {
    this.calls.close();
    this.log.close();
  }
}
