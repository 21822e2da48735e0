import type { z } from 'zod';

/** Most members named in one error. */
const MEMBERS_MAX = 3;
/** Most characters of an unknown member's name in an error. */
const KEY_CHARS = 40;

// All numbers in requests are integers.
const NOUNS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
};

/** Describes an issue whose schema has no message of its own. */
export const describeIssue: z.core.$ZodErrorMap = (issue) => {
  const isMissing = issue.input === undefined;
  switch (issue.code) {
    case 'invalid_type': {
      const noun = NOUNS[issue.expected] ?? issue.expected;
      if (isMissing) return `is missing; send ${noun}`;
      const isFraction = typeof issue.input === 'number' && noun === NOUNS.int;
      return isFraction ? `must be ${noun}` : `must be ${noun}, not ${typeName(issue.input)}`;
    }
    case 'invalid_value':
      return allowedValues(issue.values, isMissing);
    case 'invalid_union': {
      if (!('options' in issue) || !Array.isArray(issue.options)) return undefined;
      const member = String(issue.discriminator);
      return allowedValues(issue.options, !Object.hasOwn(issue.input as object, member));
    }
    case 'unrecognized_keys':
      return unknownMembers(issue.keys);
    case 'too_big':
      return `must ${issue.origin === 'array' ? 'have' : 'be'} at most ${amount(issue, issue.maximum)}`;
    case 'too_small':
      return `must ${issue.origin === 'array' ? 'have' : 'be'} at least ${amount(issue, issue.minimum)}`;
    default:
      return undefined;
  }
};

/** One line about all issues: each member once, with its first issue. */
export function summarizeIssues(issues: readonly z.core.$ZodIssue[]): string {
  const byPath = new Map<string, string>();
  for (const { path, message } of issues) {
    const member = path.join('.');
    if (!byPath.has(member)) byPath.set(member, message);
  }
  return [...byPath]
    .slice(0, MEMBERS_MAX)
    .map(([member, message]) => (member === '' ? message : `${member}: ${message}`))
    .join('; ');
}

/** Names a few of the unknown members: a body of 1 MB may have 100,000. */
function unknownMembers(keys: readonly string[]): string {
  const named = keys.slice(0, MEMBERS_MAX).map((key) => JSON.stringify(shortened(key)));
  const more = keys.length - named.length;
  const list = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return `Unrecognized key${keys.length > 1 ? 's' : ''}: ${list}`;
}

function shortened(key: string): string {
  return key.length > KEY_CHARS ? `${key.slice(0, KEY_CHARS).toWellFormed()}…` : key;
}

function allowedValues(values: readonly unknown[], isMissing: boolean): string {
  const allowed = values.map((value) => JSON.stringify(value)).join(', ');
  const which = values.length === 1 ? allowed : `one of ${allowed}`;
  return isMissing ? `is missing; send ${which}` : `must be ${which}`;
}

function amount({ origin }: { origin: string }, limit: number | bigint): string {
  return origin === 'array' ? `${limit} elements` : String(limit);
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
