import { Redis, type RedisOptions } from 'ioredis';
import { Unavailable } from '../../platform/errors.ts';
import type { HostPort } from '../../platform/redis-url.ts';
import { runtime } from '../../platform/runtime.ts';
import type { RedisValue } from './redis.ts';
import { SilenceTimer } from './silence-timer.ts';

/** An error reply of a server; `code` is its first word, such as `READONLY`. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
  readonly code: string;
  constructor(message: string) {
    // The server repeats arguments, which may be secret.
    super(message.replace(/, with args beginning with:.*$/s, ''));
    this.code = /^[A-Z]+/.exec(message)?.[0] ?? 'ERR';
  }
}

/** A server that sends nothing for this long while a command is pending is unavailable. */
export const SILENCE_TIMEOUT_MS = 250;
/** Maximum duration of a call while the server still responds to other calls. */
const CALL_TIMEOUT_MS = 800;
const TICK_MS = 25;
/** Maximum number of pending commands; further ones could not get a reply in time. */
const PENDING_MAX = 10_000;

const CONNECTION_OPTIONS: RedisOptions = {
  lazyConnect: true,
  connectTimeout: SILENCE_TIMEOUT_MS,
  disconnectTimeout: 100,
  // One client per connection: a new client resolves the host name again, and has no commands left from
  // the last connection.
  retryStrategy: null,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  enableReadyCheck: false,
  disableClientInfo: true,
  protocol: 2,
};

interface PendingCommand {
  /** Maximum silence while this command is pending, in ms. */
  readonly silenceMs: number;
  /** `silence.elapsedMs()` when it was sent. */
  readonly sinceMs: number;
  readonly reject: (error: Error) => void;
}

/** How to connect to servers of one kind. */
export interface ServerAccess {
  readonly connectTo: (address: HostPort) => RedisOptions;
  readonly handshake: (connection: Connection) => Promise<void>;
}

/** Runs a query on a connection of its own. @throws Unavailable, or the error of the query */
export async function queryServer<T>(
  { connectTo, handshake }: ServerAccess,
  address: HostPort,
  query: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = new Connection(connectTo(address), () => {});
  try {
    await connection.open();
    await handshake(connection);
    return await query(connection);
  } finally {
    connection.close('done');
  }
}

/**
 * One connection to one server; it never reconnects. It ends when the server closes it, cannot be
 * reached, or is silent while a command is pending, by default for 250 ms. All pending commands
 * then fail with Unavailable. Commands are never queued or sent twice.
 */
export class Connection {
  /** Why the connection ended; null while it is open. */
  ended: string | null = null;
  private readonly client: Redis;
  private readonly pending = new Set<PendingCommand>();
  private readonly silence = new SilenceTimer(TICK_MS);
  private tickTimer: Timer | null = null;
  private endReason = 'the connection was closed';

  /**
   * @param options address of the server
   * @param onEnd called once with the reason when the connection ends, except after `close`
   */
  constructor(
    options: RedisOptions,
    private readonly onEnd: (reason: string) => void,
  ) {
    this.client = new Redis({ ...options, ...CONNECTION_OPTIONS, replyMapping: 'legacy' });
    this.client.on('error', (error: Error) => {
      this.endReason = error.message;
    });
    // Any byte counts as a response: large replies arrive in many pieces.
    this.client.on('connect', () => {
      this.client.stream.on('data', () => this.silence.onResponse(runtime.monotonicMs()));
    });
    this.client.on('end', () => this.end(this.endReason));
  }

  /** @throws Unavailable when the server cannot be reached */
  async open(): Promise<void> {
    if (this.ended !== null) throw new Unavailable(this.ended);
    await this.withTimeout(this.client.connect(), CALL_TIMEOUT_MS);
  }

  /**
   * Sends one command.
   * @param silenceMs maximum silence; longer for commands that block
   * @throws Unavailable when there was no reply
   * @throws ReplyError when the reply is an error
   */
  async send(words: readonly RedisValue[], silenceMs = SILENCE_TIMEOUT_MS): Promise<unknown> {
    if (this.ended !== null) throw new Unavailable(this.ended);
    if (this.pending.size >= PENDING_MAX)
      throw new Unavailable('Redis has too many pending commands.');
    const [name, ...values] = words.map(toArgument);
    return this.withTimeout(this.client.callBuffer(String(name), ...values), silenceMs);
  }

  /** Buffers the commands of this turn of the event loop, so that they are sent together. */
  cork(): void {
    const { stream } = this.client;
    if (!stream || this.ended !== null) return;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }

  private withTimeout(work: Promise<unknown>, silenceMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.pending.size === 0) this.startTicking();
      const entry = { silenceMs, sinceMs: this.silence.elapsedMs(), reject };
      this.pending.add(entry);
      const settle = () => {
        if (this.pending.delete(entry) && this.pending.size === 0) this.stopTicking();
      };
      work.then(
        (reply) => {
          settle();
          resolve(reply);
        },
        ({ name, message }: Error) => {
          settle();
          const reason = this.ended ?? (this.endReason || message);
          reject(name === 'ReplyError' ? new ReplyError(message) : new Unavailable(reason));
        },
      );
    });
  }

  private startTicking(): void {
    this.silence.start(runtime.monotonicMs());
    this.tickTimer = runtime.setInterval(() => this.tick(), TICK_MS);
  }

  private stopTicking(): void {
    if (this.tickTimer) runtime.clearTimer(this.tickTimer);
    this.tickTimer = null;
  }

  private tick(): void {
    this.silence.tick(runtime.monotonicMs());
    const [first] = this.pending;
    if (!first) return;
    if (this.isSilenceTooLong(first)) {
      // A response may have arrived while this process was stalled: read the socket first.
      runtime.setImmediate(() => {
        if (this.pending.has(first) && this.isSilenceTooLong(first))
          this.end('it does not respond');
      });
      return;
    }
    for (const entry of this.pending) {
      if (this.silence.elapsedMs() - entry.sinceMs <= Math.max(CALL_TIMEOUT_MS, entry.silenceMs))
        break;
      this.pending.delete(entry);
      entry.reject(new Unavailable('Redis is too slow.'));
    }
    if (this.pending.size === 0) this.stopTicking();
  }

  private isSilenceTooLong({ silenceMs }: PendingCommand): boolean {
    return this.silence.silentMs() >= silenceMs;
  }

  private end(reason: string): void {
    if (this.ended !== null) return;
    this.close(reason);
    this.onEnd(reason);
  }

  /** Ends the connection; pending commands fail. */
  close(reason: string): void {
    if (this.ended !== null) return;
    this.ended = reason;
    this.stopTicking();
    const waiting = [...this.pending];
    this.pending.clear();
    this.client.disconnect();
    for (const { reject } of waiting) reject(new Unavailable(`Redis: ${reason}`));
  }
}

function toArgument(value: RedisValue): string | Buffer {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
