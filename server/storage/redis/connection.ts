import type { RedisOptions } from 'ioredis';
import { Unavailable } from '../../platform/errors.ts';
import type { HostPort } from '../../platform/redis-url.ts';
import { PROCESS_ENVIRONMENT } from './process-environment.ts';
import type { RedisValue } from './redis.ts';
import { SilenceTimer } from './silence-timer.ts';
import type { ConnectionEnvironment, Transport } from './transport.ts';

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
  private readonly transport: Transport;
  private readonly pending = new Set<PendingCommand>();
  private readonly silence = new SilenceTimer(TICK_MS);
  private cancelTick: (() => void) | null = null;
  private endReason = 'the connection was closed';

  /**
   * @param options address of the server
   * @param onEnd called once with the reason when the connection ends, except after `close`
   */
  constructor(
    options: RedisOptions,
    private readonly onEnd: (reason: string) => void,
    private readonly environment: ConnectionEnvironment = PROCESS_ENVIRONMENT,
  ) {
    const transportOptions = { ...options, connectTimeout: SILENCE_TIMEOUT_MS };
    this.transport = environment.createTransport(transportOptions, {
      onData: () => this.silence.onResponse(environment.monotonicMs()),
      onError: ({ message }) => {
        this.endReason = message;
      },
      onEnd: () => this.end(this.endReason),
    });
  }

  /** @throws Unavailable when the server cannot be reached */
  async open(): Promise<void> {
    if (this.ended !== null) throw new Unavailable(this.ended);
    await this.withTimeout(this.transport.connect(), CALL_TIMEOUT_MS);
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
    return this.withTimeout(this.transport.send(words), silenceMs);
  }

  /** Buffers the commands of this turn of the event loop, so that they are sent together. */
  cork(): void {
    if (this.ended === null) this.transport.cork();
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
    this.silence.start(this.environment.monotonicMs());
    this.scheduleTick();
  }

  private scheduleTick(): void {
    this.cancelTick = this.environment.setTimer(() => {
      this.scheduleTick();
      this.tick();
    }, TICK_MS);
  }

  private stopTicking(): void {
    this.cancelTick?.();
    this.cancelTick = null;
  }

  private tick(): void {
    this.silence.tick(this.environment.monotonicMs());
    const entries = [...this.pending];
    const [first] = entries;
    if (!first) return;
    if (this.isSilenceTooLong(first)) {
      // A response may have arrived while this process was stalled: read the socket first.
      this.environment.afterInput(() => {
        if (this.pending.has(first) && this.isSilenceTooLong(first))
          this.end('it does not respond');
      });
      return;
    }
    for (const entry of entries) {
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
    this.transport.disconnect();
    for (const { reject } of waiting) reject(new Unavailable(`Redis: ${reason}`));
  }
}
