import { Redis, type RedisOptions } from 'ioredis';
import { Unavailable } from '../../platform/errors.ts';
import { Patience } from './patience.ts';
import type { RedisValue } from './redis.ts';

/** What a server answered with an error; `code` is its first word, such as `READONLY`. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
  readonly code: string;
  constructor(message: string) {
    // What follows are values that were sent.
    super(message.replace(/, with args beginning with:.*$/s, ''));
    this.code = /^[A-Z]+/.exec(message)?.[0] ?? 'ERR';
  }
}

/** A server that sends nothing for so long while something waits has stopped answering. */
export const SILENCE_MS = 250;
/** What one call may take of a server that is slow, but answers others. */
const CALL_MS = 800;
const TICK_MS = 25;
/** Calls under way; what comes beyond them has no hope of an answer in time. */
const WAITING_MAX = 10_000;

const ONE_CONNECTION: RedisOptions = {
  lazyConnect: true,
  connectTimeout: SILENCE_MS,
  disconnectTimeout: 100,
  // Each client is one connection: a new one resolves the name of its server again, and has
  // nothing left of the last one's commands.
  retryStrategy: null,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  enableReadyCheck: false,
  disableClientInfo: true,
  protocol: 2,
};

interface Waiting {
  /** How long this one may wait without anything coming, in ms. */
  readonly silenceMs: number;
  /** By the connection's own time, in ms. */
  readonly sinceMs: number;
  readonly reject: (error: Error) => void;
}

/**
 * One connection to one server, from its making to its end; it is not made anew. It ends when the
 * server closes it, cannot be reached, or is silent for 250 ms while something waits; then all that
 * waits fails with Unavailable. Nothing is queued for later and nothing is sent twice.
 */
export class Connection {
  /** Why it ended; null while it has not. */
  ended: string | null = null;
  private readonly client: Redis;
  private readonly waiting = new Set<Waiting>();
  private readonly patience = new Patience(TICK_MS);
  private ticking: Timer | null = null;
  private reason = 'the connection was closed';

  /**
   * @param options where the server is
   * @param onEnd told once why the connection ended, unless `close` ended it
   */
  constructor(
    options: RedisOptions,
    private readonly onEnd: (reason: string) => void,
  ) {
    this.client = new Redis({ ...options, ...ONE_CONNECTION, replyMapping: 'legacy' });
    this.client.on('error', (error: Error) => {
      this.reason = error.message;
    });
    // Any byte is an answer: those to large calls take their time.
    this.client.on('connect', () => {
      this.client.stream.on('data', () => this.patience.answered(performance.now()));
    });
    this.client.on('end', () => this.end(this.reason));
  }

  /** @throws Unavailable when there is no server */
  async open(): Promise<void> {
    if (this.ended !== null) throw new Unavailable(this.ended);
    await this.bounded(this.client.connect(), CALL_MS);
  }

  /**
   * Sends one command. @param silenceMs what the command itself may keep the connection silent
   * @throws Unavailable when no answer came @throws ReplyError when the answer is an error
   */
  async send(words: readonly RedisValue[], silenceMs = SILENCE_MS): Promise<unknown> {
    if (this.ended !== null) throw new Unavailable(this.ended);
    if (this.waiting.size >= WAITING_MAX) throw new Unavailable('Redis has too much to answer.');
    const [name, ...values] = words.map(argumentOf);
    return this.bounded(this.client.callBuffer(String(name), ...values), silenceMs);
  }

  /** Holds back what is sent in this turn, so that it goes out together. */
  cork(): void {
    const { stream } = this.client;
    if (!stream || this.ended !== null) return;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }

  close(reason: string): void {
    this.finish(reason);
  }

  private bounded(work: Promise<unknown>, silenceMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.waiting.size === 0) this.startTicking();
      const entry = { silenceMs, sinceMs: this.patience.passed(), reject };

      this.waiting.add(entry);
      const settle = () => {
        if (this.waiting.delete(entry) && this.waiting.size === 0) this.stopTicking();
      };
      work.then(
        (reply) => {
          settle();
          resolve(reply);
        },
        (error: Error) => {
          settle();
          reject(isReply(error) ? new ReplyError(error.message) : this.lost(error));
        },
      );
    });
  }

  private lost(error: Error): Unavailable {
    return new Unavailable(this.ended ?? (this.reason || error.message));
  }

  private startTicking(): void {
    this.patience.begin(performance.now());
    this.ticking = setInterval(() => this.tick(), TICK_MS);
  }

  private stopTicking(): void {
    if (this.ticking) clearInterval(this.ticking);
    this.ticking = null;
  }

  private tick(): void {
    this.patience.tick(performance.now());
    const [first] = this.waiting;
    if (!first) return;
    if (this.isSilentFor(first)) {
      // An answer may have come while this process stood still: what has arrived is read first.
      setImmediate(() => {
        if (this.waiting.has(first) && this.isSilentFor(first)) this.end('it does not answer');
      });
      return;
    }
    for (const entry of this.waiting) {
      if (this.patience.passed() - entry.sinceMs <= Math.max(CALL_MS, entry.silenceMs)) break;
      this.waiting.delete(entry);
      entry.reject(new Unavailable('Redis is too slow.'));
    }
    if (this.waiting.size === 0) this.stopTicking();
  }

  private isSilentFor({ silenceMs }: Waiting): boolean {
    return this.patience.waited() >= silenceMs;
  }

  private end(reason: string): void {
    if (this.ended !== null) return;
    this.finish(reason);
    this.onEnd(reason);
  }

  private finish(reason: string): void {
    if (this.ended !== null) return;
    this.ended = reason;
    this.stopTicking();
    const waiting = [...this.waiting];
    this.waiting.clear();
    // Also ends what watches the Sentinels.
    this.client.disconnect();
    for (const { reject } of waiting) reject(new Unavailable(`Redis: ${reason}`));
  }
}

function argumentOf(value: RedisValue): string | Buffer {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

function isReply(error: Error): boolean {
  return error.name === 'ReplyError';
}
