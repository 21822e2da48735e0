/** An argument of a library function. */
export type RedisValue = string | number | Uint8Array;

/** A call of a library function (`library/`). Its keys share one hash tag. */
export interface FunctionCall {
  readonly name: string;
  readonly keys: readonly string[];
  readonly values: readonly RedisValue[];
}

/** An entry of a Redis stream: its id, `<number>-<number>`, and its only value. */
export interface LogEntry {
  readonly id: string;
  readonly value: Uint8Array;
}

/**
 * Redis or Valkey: a single server, a primary watched by Sentinels, or a cluster. Replies of functions
 * are integers, `null`, bytes as `Uint8Array`, or lists of these.
 *
 * Every method throws Unavailable 250 ms after Redis stopped responding, and immediately while Redis is
 * known to be unavailable. A call that failed may have taken effect.
 */
export interface Redis {
  /** Calls a function. Loads the library if Redis lacks it, as after a restart without persistence. */
  call(call: FunctionCall): Promise<unknown>;
  /**
   * Calls several functions in one round trip per server, not in a transaction.
   * @returns the replies in the order of the calls
   * @throws the error of the first call that failed
   */
  callAll(calls: readonly FunctionCall[]): Promise<unknown[]>;
  /**
   * Reads the entries of a stream after `id`, oldest first, and waits up to `waitMs` for the first one.
   * Uses a connection of its own, so that the wait blocks no other call.
   */
  readLog(key: string, id: string, waitMs: number): Promise<LogEntry[]>;
  /** Waits until the configured number of replicas has all earlier writes to the server of `key`. */
  waitForReplicas(key: string): Promise<void>;
  /** The clock of the server in Unix ms, with fractions; its functions use the same clock. */
  timeMs(): Promise<number>;
  /** Why Redis cannot be reached now; null while it can. */
  unavailableReason(): string | null;
  close(): Promise<void>;
}
