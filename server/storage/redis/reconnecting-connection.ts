import type { RedisOptions } from 'ioredis';
import { Unavailable } from '../../platform/errors.ts';
import { Connection, ReplyError } from './connection.ts';
import { PROCESS_ENVIRONMENT } from './process-environment.ts';
import type { RedisValue } from './redis.ts';
import type { ConnectionEnvironment } from './transport.ts';

export interface ReconnectingConnectionOptions {
  /** Resolves the address for each attempt. @throws when it is unknown */
  readonly target: () => Promise<RedisOptions>;
  /** Prepares a new connection. @throws when it cannot be used */
  readonly handshake: (connection: Connection) => Promise<void>;
  /** Called with the reason when the connection is lost. */
  readonly onUnavailable?: (reason: string) => void;
  /** Called when there is a connection again. */
  readonly onAvailable?: () => void;
  /** Whether another server had the keys until now: its last writes may be missing here. */
  readonly takesOver?: boolean;
  /** By default that of the process. */
  readonly environment?: ConnectionEnvironment | undefined;
}

export interface SendOptions {
  /** Maximum silence while the command is pending, in ms. */
  readonly silenceMs?: number;
  /** Whether to send ASKING first, for a key whose slot is being moved to the server. */
  readonly isAsking?: boolean;
}

// A server that is available again is found within the sum of both; the jitter spreads the nodes.
const RETRY_MIN_MS = 100;
const RETRY_JITTER_MS = 100;
/** Time after the loss of a connection in which its last writes cannot be confirmed. */
const LOST_WRITE_WINDOW_MS = 1_000;

// The server accepts no writes now: another one is the primary, it loads its file, its disk or memory is
// full, its replicas are missing, a script hangs, or the operator took permissions from the user.
const NOT_WRITABLE_CODES = new Set([
  'READONLY',
  'LOADING',
  'MASTERDOWN',
  'MISCONF',
  'OOM',
  'NOREPLICAS',
  'BUSY',
  'NOPERM',
]);
// The server will never accept our commands.
const REJECTED_CODES = new Set(['NOAUTH', 'WRONGPASS', 'NOPERM', 'ERR']);

/** A problem that only the operator can solve. The message is one line for them. */
export class RedisConfigurationError extends Error {
  override readonly name = 'RedisConfigurationError';
}

/**
 * A connection to one server that reconnects. When it ends, or the server accepts no writes, a new
 * connection is tried every 100–200 ms. Until one is usable, calls fail immediately.
 */
export class ReconnectingConnection {
  private attempt: Connection | null = null;
  private connection: Connection | null = null;
  private reason = 'not connected yet';
  private configurationError: RedisConfigurationError | null = null;
  private closed = false;
  private wasConnected = false;
  private cancelRetry: (() => void) | null = null;
  private firstAttempt: Promise<void> | null;
  private readonly environment: ConnectionEnvironment;
  private lastReplyMs = Number.NEGATIVE_INFINITY;
  /** Time of the last reply on an earlier connection, or of another server that had the keys. */
  private lastReplyElsewhereMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: ReconnectingConnectionOptions) {
    this.environment = options.environment ?? PROCESS_ENVIRONMENT;
    if (options.takesOver) this.lastReplyElsewhereMs = this.environment.monotonicMs();
    this.firstAttempt = this.connect();
  }

  /** Why there is no usable connection; null while there is one. */
  unavailableReason(): string | null {
    return this.connection === null ? this.reason : null;
  }

  /**
   * Waits for the first attempt to connect.
   * @throws Unavailable when it failed and a later one may succeed
   * @throws RedisConfigurationError when a retry cannot help
   */
  async ready(): Promise<void> {
    await this.firstAttempt;
    if (this.connection === null) throw this.configurationError ?? this.unavailableError();
  }

  /** Sends a command. @throws Unavailable, immediately while there is no connection @throws ReplyError */
  async send(words: readonly RedisValue[], options: SendOptions = {}): Promise<unknown> {
    if (this.firstAttempt) await this.firstAttempt;
    const { connection } = this;
    if (connection === null) throw this.unavailableError();
    try {
      // If ASKING fails, the next command fails too.
      if (options.isAsking) connection.send(['ASKING']).catch(() => {});
      const reply = await connection.send(words, options.silenceMs);
      this.lastReplyMs = this.environment.monotonicMs();
      return reply;
    } catch (error) {
      if (!(error instanceof ReplyError) || !NOT_WRITABLE_CODES.has(error.code)) throw error;
      this.drop(connection, error.message);
      throw new Unavailable(`Redis: ${error.message}`);
    }
  }

  /** Whether recent writes went to a connection that is lost, so that this one cannot confirm them. */
  mayHaveLostWrites(): boolean {
    return this.environment.monotonicMs() - this.lastReplyElsewhereMs < LOST_WRITE_WINDOW_MS;
  }

  /** Buffers the commands of this turn of the event loop, so that they are sent together. */
  cork(): void {
    this.connection?.cork();
  }

  /** Drops the connection and opens a new one, perhaps to another server. */
  reconnect(reason: string): void {
    if (this.connection) this.drop(this.connection, reason);
  }

  /** Runs a scheduled attempt to connect now. */
  retryNow(): void {
    if (this.cancelRetry === null) return;
    this.cancelRetry();
    void this.connect();
  }

  close(): void {
    this.closed = true;
    this.reason = 'closed';
    this.cancelRetry?.();
    this.attempt?.close('closed');
    this.connection = null;
  }

  private async connect(): Promise<void> {
    this.cancelRetry = null;
    try {
      const connection = await this.openConnection(await this.options.target());
      if (connection.ended !== null) throw new Unavailable(connection.ended);
      this.connection = connection;
      this.configurationError = null;
      if (this.wasConnected) this.options.onAvailable?.();
    } catch (error) {
      this.configurationError = configurationErrorOf(error);
      this.scheduleRetry((error as Error).message);
    } finally {
      this.firstAttempt = null;
    }
  }

  private async openConnection(target: RedisOptions): Promise<Connection> {
    const onEnd = (reason: string) => this.drop(connection, reason);
    const connection = new Connection(target, onEnd, this.environment);
    this.attempt = connection;
    if (this.closed) connection.close('closed');
    try {
      await connection.open();
      await this.options.handshake(connection);
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
    this.lastReplyElsewhereMs = this.lastReplyMs;
    this.scheduleRetry(reason);
    this.wasConnected = true;
    this.options.onUnavailable?.(reason);
  }

  private scheduleRetry(reason: string): void {
    if (this.closed) return;
    this.reason = reason;
    const delayMs = RETRY_MIN_MS + this.environment.random() * RETRY_JITTER_MS;
    this.cancelRetry = this.environment.setTimer(() => void this.connect(), delayMs);
  }

  private unavailableError(): Unavailable {
    return new Unavailable(`Redis is unavailable: ${this.reason}`);
  }
}

/** The configuration error that caused an error of a handshake; null for other causes. */
export function configurationErrorOf(error: unknown): RedisConfigurationError | null {
  if (error instanceof RedisConfigurationError) return error;
  if (!(error instanceof ReplyError) || !REJECTED_CODES.has(error.code)) return null;
  return /max number of clients/.test(error.message)
    ? null
    : new RedisConfigurationError(error.message);
}
