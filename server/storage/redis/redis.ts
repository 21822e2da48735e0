/** A value that a function of the library takes. */
export type RedisValue = string | number | Uint8Array;

/** A call of a function of the library (`library/`); its keys share one hash tag. */
export interface FunctionCall {
  readonly name: string;
  readonly keys: readonly string[];
  readonly values: readonly RedisValue[];
}

/** An entry of a log in Redis: its id, `<number>-<number>`, and its one value. */
export interface LogEntry {
  readonly id: string;
  readonly value: Uint8Array;
}

/**
 * Redis or Valkey as the realtime backend sees it: one server, one watched by Sentinels, or a cluster. Replies
 * of functions are integers, `null`, bytes as `Uint8Array`, or lists of these.
 *
 * Every method is bounded: it throws Unavailable 250 ms after Redis stopped answering, and at once
 * while it is known to be unavailable. A call that was begun may have been carried out all the same.
 */
export interface Redis {
  /** Calls one function. A library that Redis lacks, as after a restart without its file, is loaded. */
  call(call: FunctionCall): Promise<unknown>;
  /**
   * Calls many functions in one round trip to each server that holds their keys, not in one
   * transaction. @returns replies in the order of the calls @throws when any of them failed
   */
  callAll(calls: readonly FunctionCall[]): Promise<unknown[]>;
  /**
   * Entries of a log after `id`, oldest first; waits up to `waitMs` for the first. It has a
   * connection of its own, so that its waiting holds nothing up.
   */
  readLog(key: string, id: string, waitMs: number): Promise<LogEntry[]>;
  /** Waits until so many replicas as the settings ask for have what was written before. */
  replicated(key: string): Promise<void>;
  /** The server's clock in Unix ms, with fractions: what its functions go by. */
  timeMs(): Promise<number>;
  /** Why it cannot be reached now; null when it can. */
  unavailable(): string | null;
  close(): Promise<void>;
}
