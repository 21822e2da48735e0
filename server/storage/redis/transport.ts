import type { RedisOptions } from 'ioredis';
import type { RedisValue } from './redis.ts';

/** The network side of one connection, without timeouts. */
export interface Transport {
  /** @throws Error when the server cannot be reached */
  connect(): Promise<unknown>;
  /**
   * Sends one command. Commands are executed in the order in which they were sent.
   * @returns the reply, with bytes as `Uint8Array`
   * @throws Error with the name `ReplyError` when the reply is an error
   */
  send(words: readonly RedisValue[]): Promise<unknown>;
  /** Buffers the commands of this turn of the event loop, so that they are sent together. */
  cork(): void;
  disconnect(): void;
}

export interface TransportEvents {
  /** Something arrived, perhaps a part of a reply. */
  onData(): void;
  onError(error: Error): void;
  onEnd(): void;
}

/** Network, clock, timers and randomness of connections. */
export interface ConnectionEnvironment {
  createTransport(options: RedisOptions, events: TransportEvents): Transport;
  /** Runs forward at the pace of real time. */
  monotonicMs(): number;
  /** @returns a function that cancels the timer */
  setTimer(run: () => void, ms: number): () => void;
  /** Runs after the data that has arrived until now is read. */
  afterInput(run: () => void): void;
  /** A random number in [0, 1). */
  random(): number;
}
