import { formatLuaNumber, parseLuaNumber } from './lua-numbers.ts';
import { LuaError, type LuaFunction, LuaTable, type LuaValue } from './lua-table.ts';

/*
 * The operations of Lua 5.1 that translated code calls. The translation uses operators of JavaScript
 * where the types are known.
 */

export const isTrue = (value: LuaValue): boolean => value !== undefined && value !== false;

export function typeOf(value: LuaValue): string {
  if (value === undefined) return 'nil';
  return value instanceof LuaTable ? 'table' : typeof value;
}

/** Converts an operand of arithmetic. Strings are converted, as in Lua. */
export function toNumber(value: LuaValue): number {
  if (typeof value === 'number') return value;
  const number = typeof value === 'string' ? parseLuaNumber(value) : undefined;
  if (number === undefined) throw new LuaError(`number expected, got ${typeOf(value)}`);
  return number;
}

/** Converts an operand of `..` and a subject of the string functions. Numbers are converted. */
export function toText(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return formatLuaNumber(value);
  throw new LuaError(`string expected, got ${typeOf(value)}`);
}

/** The function `tonumber`: nil for values that are no number. */
export function parse(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? parseLuaNumber(value) : undefined;
}

export function describe(value: LuaValue): string {
  if (value === undefined) return 'nil';
  return typeof value === 'boolean' ? String(value) : toText(value);
}

/** The operator `<`: two numbers or two strings. */
export function isLess(a: LuaValue, b: LuaValue): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  if (typeof a === 'string' && typeof b === 'string') return a < b;
  throw new LuaError(`attempt to compare ${typeOf(a)} with ${typeOf(b)}`);
}

/** The operator `<=`: two numbers or two strings. */
export function isLessOrEqual(a: LuaValue, b: LuaValue): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a <= b;
  return a === b ? isComparable(a) : isLess(a, b);
}

function isComparable(value: LuaValue): boolean {
  if (typeof value === 'string') return true;
  throw new LuaError(`attempt to compare two ${typeOf(value)} values`);
}

/** The operator `%`: the result has the sign of the divisor. */
export const modulo = (a: number, b: number): number => a - Math.floor(a / b) * b;

export function lengthOf(value: LuaValue): number {
  if (value instanceof LuaTable || typeof value === 'string') return value.length;
  throw new LuaError(`attempt to get length of a ${typeOf(value)} value`);
}

export function tableOf(value: LuaValue): LuaTable {
  if (value instanceof LuaTable) return value;
  throw new LuaError(`table expected, got ${typeOf(value)}`);
}

export function functionOf(value: LuaValue): LuaFunction {
  if (typeof value === 'function') return value;
  throw new LuaError(`attempt to call a ${typeOf(value)} value`);
}

/** A table of the array part, and of keys and values in turn. */
export function createTable(items: LuaValue[], fields: readonly LuaValue[]): LuaTable {
  const table = new LuaTable(items);
  for (let at = 0; at < fields.length; at += 2) table.set(fields[at], fields[at + 1]);
  return table;
}

/** The function `string.match`: the captures, or the whole match when there are none. */
export function match(text: LuaValue, pattern: RegExp): LuaValue[] {
  const found = pattern.exec(toText(text));
  if (found === null) return [];
  return found.length > 1 ? found.slice(1) : [found[0]];
}

/** The first value of `string.match`. */
export function firstMatch(text: LuaValue, pattern: RegExp): LuaValue {
  const found = pattern.exec(toText(text));
  return found === null ? undefined : (found[1] ?? found[0]);
}

/** The function `string.gmatch`, for patterns without captures. */
export function allMatches(text: LuaValue, pattern: RegExp): readonly string[] {
  return toText(text).match(pattern) ?? [];
}

/** The function `string.sub`. */
export function substring(text: LuaValue, first: LuaValue, last: LuaValue): string {
  const subject = toText(text);
  const [from, to] = [toNumber(first), toNumber(last)].map((position) =>
    position < 0 ? subject.length + Math.trunc(position) + 1 : Math.trunc(position),
  ) as [number, number];
  return subject.slice(Math.max(1, from) - 1, Math.max(0, to));
}

/** The conversion `%d` of `string.format`: C truncates. */
export function formatInteger(value: LuaValue): string {
  const number = Math.trunc(toNumber(value));
  if (!Number.isSafeInteger(number)) throw new LuaError(`%d of ${number} is not supported`);
  return number === 0 ? '0' : String(number);
}

/** The function `unpack` from a first index on. Lua has a limit of some 8,000 values. */
export function unpack(table: LuaValue, first: LuaValue): readonly LuaValue[] {
  const from = toNumber(first);
  const { items } = tableOf(table);
  if (items.length >= UNPACK_MAX) throw new LuaError('too many results to unpack');
  if (from < 1) throw new LuaError(`unpack from ${from} is not supported`);
  return from === 1 ? items : items.slice(from - 1);
}

const UNPACK_MAX = 7_999;

/** The step of a numeric `for`. */
export function checkStep(step: number): number {
  if (step > 0 || step < 0) return step;
  throw new LuaError(`a step of ${step} is not supported`);
}
