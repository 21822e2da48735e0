import type { RedisOptions } from 'ioredis';
import { Unavailable } from '../../platform/errors.ts';
import { Connection, ReplyError } from './connection.ts';
import type { RedisValue } from './redis.ts';

export interface LinkOptions {
  /** Where to connect, for each attempt anew. @throws when nobody knows */
  readonly target: () => Promise<RedisOptions>;
  /** What makes a new connection fit for calls. @throws when it is not */
  readonly greet: (connection: Connection) => Promise<void>;
  /** Told when a fit connection was lost, and why. */
  readonly onUnavailable?: (reason: string) => void;
  /** Told when there is one again. */
  readonly onBack?: () => void;
  /** Whether keys were another server's until now: what was written there may not be here. */
  readonly takesOver?: boolean;
}

export interface SendOptions {
  /** How long the command itself may keep the server silent, in ms. */
  readonly silenceMs?: number;
  /** Whether the server may answer for a key that is only being moved to it. */
  readonly isAsking?: boolean;
}

// A server that is back is found within this, and no herd of nodes finds it at once.
const RETRY_LEAST_MS = 100;
const RETRY_JITTER_MS = 100;
/** For so long after a connection was lost, somebody may still ask what became of a write on it. */
const WRITTEN_MS = 1_000;

// By these a server says that it takes no writes for now: another may be the primary, or it loads
// its file, or its disk or memory is full, or its replicas are gone, or a script hangs.
const UNFIT = new Set([
  'READONLY',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'OOM',
  'NOREPLICAS',
  'BUSY',
]);
// By these it says that it never will take ours.
const REFUSED = new Set(['NOAUTH', 'WRONGPASS', 'NOPERM', 'ERR']);

/** What no waiting heals: the operator has to change something. The message is one line for them. */
export class WrongRedis extends Error {
  override readonly name = 'WrongRedis';
}

/**
 * The way to one server, by one connection. When that ends, or the server says that it takes no
 * writes, a new one is tried every 100–200 ms until one is fit. Until then, calls fail at once.
 */
export class Link {
  private attempt: Connection | null = null;
  private connection: Connection | null = null;
  private reason = 'not connected yet';
  private wrong: WrongRedis | null = null;
  private closed = false;
  private wasLost = false;
  private retry: Timer | null = null;
  private settling: Promise<void> | null;
  private answeredMs = Number.NEGATIVE_INFINITY;
  private answeredElsewhereMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: LinkOptions) {
    if (options.takesOver) this.answeredElsewhereMs = performance.now();
    this.settling = this.connect();
  }

  /** Why there is no connection that is fit; null when there is. */
  unavailable(): string | null {
    return this.connection === null ? this.reason : null;
  }

  /**
   * Waits for the first attempt. @throws Unavailable when it failed, and a later one may not
   * @throws WrongRedis when no other will do better
   */
  async opened(): Promise<void> {
    await this.settling;
    if (this.connection === null) throw this.wrong ?? this.unavailableError();
  }

  /** @throws Unavailable, at once while the server is unavailable @throws ReplyError */
  async send(words: readonly RedisValue[], options: SendOptions = {}): Promise<unknown> {
    if (this.settling) await this.settling;
    const { connection } = this;
    if (connection === null) throw this.unavailableError();
    try {
      // Its answer is OK, or the next one's is an error too.
      if (options.isAsking) connection.send(['ASKING']).catch(() => {});
      const reply = await connection.send(words, options.silenceMs);
      this.answeredMs = performance.now();
      return reply;
    } catch (error) {
      if (!(error instanceof ReplyError) || !UNFIT.has(error.code)) throw error;
      this.drop(connection, error.message);
      throw new Unavailable(`Redis: ${error.message}`);
    }
  }

  /** Whether something may have been written just before on a connection that is gone. */
  wroteElsewhere(): boolean {
    return performance.now() - this.answeredElsewhereMs < WRITTEN_MS;
  }

  /** What is sent in this turn goes out together. */
  cork(): void {
    this.connection?.cork();
  }

  /** Leaves the connection, for one that may be better. */
  leave(reason: string): void {
    if (this.connection) this.drop(this.connection, reason);
  }

  /** Tries now what it would try a moment later. */
  hurry(): void {
    if (this.retry === null) return;
    clearTimeout(this.retry);
    void this.connect();
  }

  close(): void {
    this.closed = true;
    this.reason = 'closed';
    if (this.retry) clearTimeout(this.retry);
    this.attempt?.close('closed');
    this.connection = null;
  }

  private async connect(): Promise<void> {
    this.retry = null;
    try {
      const connection = await this.greeted(await this.options.target());
      if (connection.ended !== null) throw new Unavailable(connection.ended);
      this.connection = connection;
      this.wrong = null;
      if (this.wasLost) this.options.onBack?.();
    } catch (error) {
      this.wrong = wrongOf(error);
      this.tryAgain((error as Error).message);
    } finally {
      this.settling = null;
    }
  }

  private async greeted(target: RedisOptions): Promise<Connection> {
    const connection = new Connection(target, (reason) => this.drop(connection, reason));
    this.attempt = connection;
    if (this.closed) connection.close('closed');
    try {
      await connection.open();
      await this.options.greet(connection);
      return connection;
    } catch (error) {
      connection.close((error as Error).message);
      throw error;
    }
  }

  private drop(connection: Connection, reason: string): void {
    connection.close(reason);
    if (this.connection !== connection) return;
    this.connection = null;
    this.answeredElsewhereMs = this.answeredMs;
    this.tryAgain(reason);
    this.wasLost = true;
    this.options.onUnavailable?.(reason);
  }

  private tryAgain(reason: string): void {
    if (this.closed) return;
    this.reason = reason;
    const delayMs = RETRY_LEAST_MS + Math.random() * RETRY_JITTER_MS;
    this.retry = setTimeout(() => void this.connect(), delayMs);
  }

  private unavailableError(): Unavailable {
    return new Unavailable(`Redis is unavailable: ${this.reason}`);
  }
}

/** What an error of a greeting says of settings that are wrong; null when it says nothing of the kind. */
export function wrongOf(error: unknown): WrongRedis | null {
  if (error instanceof WrongRedis) return error;
  if (!(error instanceof ReplyError) || !REFUSED.has(error.code)) return null;
  return /max number of clients/.test(error.message) ? null : new WrongRedis(error.message);
}
