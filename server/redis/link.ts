import type { RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { Unavailable } from '../refusal.ts';
import { Connection, ReplyError } from './connection.ts';
import type { RedisValue } from './redis.ts';

export interface LinkOptions {
  /** For people: what is at the other end, without credentials. */
  readonly name: string;
  /** Where to connect, asked for each connection anew. */
  readonly target: () => RedisOptions;
  /** What makes a new connection fit for calls. @throws when it is not */
  readonly greet: (connection: Connection) => Promise<void>;
  readonly logger: Logger;
}

// A server that is back is found within this, and no herd of nodes finds it at once.
const RETRY_LEAST_MS = 100;
const RETRY_JITTER_MS = 100;

// Answers by which a server says that it takes no writes for now; each may pass without us.
const UNFIT = new Set([
  'READONLY',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'OOM',
  'NOREPLICAS',
  'BUSY',
]);
// Answers by which a server says that it never will take ours.
const FATAL = new Set(['NOAUTH', 'WRONGPASS', 'NOPERM']);

/** What no waiting heals: the operator has to change something. */
export class WrongRedis extends Error {
  override readonly name = 'WrongRedis';
}

/**
 * A connection to one server that is made again whenever it ended, with a new one every 100–200 ms
 * until one is fit. While there is none, calls fail at once.
 */
export class Link {
  private connection: Connection | null = null;
  private reason: string | null = 'not connected yet';
  private closed = false;
  private retry: Timer | null = null;
  private readonly first: Promise<void>;

  constructor(private readonly options: LinkOptions) {
    this.first = this.connect();
  }

  /** Why there is no connection that is fit; null when there is. */
  away(): string | null {
    return this.reason;
  }

  /**
   * The first attempt is over. @throws Unavailable when it failed and another may not
   * @throws WrongRedis when no other will do better
   */
  async opened(): Promise<void> {
    await this.first;
    if (this.connection === null) throw this.failure ?? this.unavailable();
  }
  private failure: WrongRedis | null = null;

  /** @throws Unavailable, at once while the server is away @throws ReplyError */
  async send(words: readonly RedisValue[], silenceMs?: number): Promise<unknown> {
    const { connection } = this;
    if (connection === null) throw this.unavailable();
    try {
      return await connection.send(words, silenceMs);
    } catch (error) {
      if (!(error instanceof ReplyError) || !UNFIT.has(error.code)) throw error;
      this.drop(connection, error.message);
      throw new Unavailable(`Redis: ${error.message}`);
    }
  }

  /** What is sent in this turn goes out together. */
  cork(): void {
    this.connection?.cork();
  }

  /** Ends the connection, and finds a better one. */
  abandon(reason: string): void {
    if (this.connection) this.drop(this.connection, reason);
  }

  close(): void {
    this.closed = true;
    this.reason = 'closed';
    if (this.retry) clearTimeout(this.retry);
    this.connection?.close('closed');
    this.connection = null;
  }

  private async connect(): Promise<void> {
    this.retry = null;
    const connection = new Connection(this.options.target(), (reason) =>
      this.drop(connection, reason),
    );
    try {
      await connection.open();
      await this.options.greet(connection);
    } catch (error) {
      connection.close((error as Error).message);
      this.failure = failureOf(error as Error);
      this.lose((error as Error).message);
      return;
    }
    if (this.closed) {
      connection.close('closed');
      return;
    }
    this.failure = null;
    this.connection = connection;
    if (this.wasAway) this.options.logger.info({ server: this.options.name }, 'Redis is back');
    this.wasAway = false;
    this.reason = null;
  }
  private wasAway = false;

  private drop(connection: Connection, reason: string): void {
    connection.close(reason);
    if (this.connection !== connection) return;
    this.connection = null;
    this.lose(reason);
  }

  private lose(reason: string): void {
    if (this.closed) return;
    this.reason = `${this.options.name}: ${reason}`;
    if (!this.wasAway) {
      this.options.logger.warn({ server: this.options.name, reason }, 'Redis is away');
    }
    this.wasAway = true;
    const delayMs = RETRY_LEAST_MS + Math.random() * RETRY_JITTER_MS;
    this.retry = setTimeout(() => void this.connect(), delayMs);
  }

  private unavailable(): Unavailable {
    return new Unavailable(`Redis is away: ${this.reason}`);
  }
}

function failureOf(error: Error): WrongRedis | null {
  if (error instanceof WrongRedis) return error;
  return error instanceof ReplyError && FATAL.has(error.code)
    ? new WrongRedis(error.message)
    : null;
}
