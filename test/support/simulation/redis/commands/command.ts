import type { Database } from '../database.ts';
import { RedisError } from '../redis-error.ts';

/** A reply that is no error. Bytes are latin1 strings. */
export type Reply = number | string | null | Status | readonly Reply[];

/** A status such as `OK`. */
export class Status {
  constructor(readonly text: string) {}
}

export const OK = new Status('OK');

export interface Command {
  /** Executes it. @param words its arguments without the name @throws RedisError */
  readonly run: (database: Database, words: readonly string[]) => Reply;
  /** The number of arguments, and whether there may be more. */
  readonly arity: number;
  readonly isVariadic: boolean;
}

export type Commands = Readonly<Record<string, Command>>;

/** A command with exactly so many arguments. */
export function exactly(arity: number, run: Command['run']): Command {
  return { run, arity, isVariadic: false };
}

/** A command with at least so many arguments. */
export function atLeast(arity: number, run: Command['run']): Command {
  return { run, arity, isVariadic: true };
}

/** @throws RedisError when it is no integer */
export function parseInteger(text: string | undefined): number {
  const value = Number(text);
  // Only one text of each integer is valid: no spaces, signs or zeros before it.
  if (Number.isSafeInteger(value) && String(value) === text) return value;
  throw new RedisError('ERR value is not an integer or out of range');
}

/** @throws RedisError when it is no number */
export function parseFloatingPoint(text: string | undefined, what = 'value'): number {
  if (text !== undefined && /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) {
    return Number(text);
  }
  const infinity = /^([+-]?)inf(?:inity)?$/i.exec(text ?? '');
  if (infinity) return infinity[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  throw new RedisError(`ERR ${what} is not a valid float`);
}
