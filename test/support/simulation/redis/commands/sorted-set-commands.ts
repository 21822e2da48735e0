import type { Database } from '../database.ts';
import { syntaxError } from '../redis-error.ts';
import { type ScoreBound, SortedSet } from '../sorted-set.ts';
import {
  atLeast,
  type Commands,
  exactly,
  parseFloatingPoint,
  parseInteger,
  type Reply,
} from './command.ts';

/** Commands for sorted sets. */
export const SORTED_SET_COMMANDS: Commands = {
  ZADD: atLeast(3, add),
  ZSCORE: exactly(2, (database, [key = '', member = '']) => {
    const score = database.sortedSet(key)?.scoreOf(member);
    return score === undefined ? null : formatScore(score);
  }),
  ZRANGE: atLeast(3, range),
  ZREVRANGEBYSCORE: atLeast(3, rangeFromLargest),
  ZREMRANGEBYSCORE: exactly(3, removeRange),
};

function add(database: Database, [key = '', ...words]: readonly string[]): Reply {
  const isIncreaseOnly = words[0] === 'GT';
  const pairs = isIncreaseOnly ? words.slice(1) : words;
  if (pairs.length === 0 || pairs.length % 2 !== 0) throw syntaxError();
  const scores = pairs.filter((_, at) => at % 2 === 0).map((text) => parseFloatingPoint(text));
  const set = database.sortedSet(key) ?? new SortedSet();
  if (set.size === 0) database.set(key, set);
  const sizeBefore = set.size;
  for (const [index, score] of scores.entries()) {
    const member = pairs[2 * index + 1] as string;
    const current = set.scoreOf(member);
    if (current === score || (isIncreaseOnly && current !== undefined && score < current)) continue;
    set.set(member, score);
    database.changes += 1;
  }
  return set.size - sizeBefore;
}

/** `ZRANGE key from to`, by place or `BYSCORE`. */
function range(
  database: Database,
  [key = '', first, last, mode, ...others]: readonly string[],
): Reply {
  if (others.length > 0) throw syntaxError();
  const isByScore = mode === 'BYSCORE';
  if (mode !== undefined && !isByScore) throw syntaxError();
  const bounds = isByScore ? ([parseBound(first), parseBound(last)] as const) : null;
  const places = bounds ? null : ([parseInteger(first), parseInteger(last)] as const);
  const set = database.sortedSet(key);
  if (!set) return [];
  const [from, to] = bounds
    ? set.placesBetween(...bounds)
    : placesOf(set.size, ...(places ?? [0, -1]));
  return set.slice(from, to).map(({ member }) => member);
}

function placesOf(size: number, first: number, last: number): [from: number, to: number] {
  const from = Math.max(0, first < 0 ? size + first : first);
  const to = (last < 0 ? size + last : last) + 1;
  return [from, Math.max(from, to)];
}

/** `ZREVRANGEBYSCORE key maximum minimum`, perhaps with `LIMIT skipped count`. */
function rangeFromLargest(
  database: Database,
  [key = '', maximum, minimum, limit, skippedText, countText, ...others]: readonly string[],
): Reply {
  const bounds = [parseBound(minimum), parseBound(maximum)] as const;
  if (others.length > 0 || (limit !== undefined && limit !== 'LIMIT')) throw syntaxError();
  const [skipped, count] =
    limit === undefined ? [0, -1] : [parseInteger(skippedText), parseInteger(countText)];
  const set = database.sortedSet(key);
  if (!set || skipped < 0) return [];
  const [from, end] = set.placesBetween(...bounds);
  const to = end - skipped;
  const start = count < 0 ? from : Math.max(from, to - count);
  if (to <= start) return [];
  return set
    .slice(start, to)
    .map(({ member }) => member)
    .reverse();
}

function removeRange(database: Database, [key = '', minimum, maximum]: readonly string[]): Reply {
  const bounds = [parseBound(minimum), parseBound(maximum)] as const;
  const set = database.sortedSet(key);
  if (!set) return 0;
  const [from, to] = set.placesBetween(...bounds);
  if (to <= from) return 0;
  set.removeSlice(from, to);
  database.changes += 1;
  if (set.size === 0) database.delete(key);
  return to - from;
}

function parseBound(text: string | undefined): ScoreBound {
  const isExclusive = text?.startsWith('(') === true;
  const number = isExclusive ? text?.slice(1) : text;
  // Bounds are read with strtod of C, other than scores.
  if (number === '') return { score: 0, isExclusive };
  return { score: parseFloatingPoint(number?.trimStart(), 'min or max'), isExclusive };
}

/** Whole scores, since the functions use intervals only, are written as integers. */
function formatScore(score: number): string {
  return Number.isFinite(score) ? String(score) : score > 0 ? 'inf' : '-inf';
}
