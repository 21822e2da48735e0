import { JSON_DEPTH } from '../../protocol/limits.ts';
import { Problem } from './problem.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Parses a JSON object strictly (RFC 7493): no duplicate keys, no `__proto__`, well-formed Unicode,
 * finite numbers, bounded depth.
 * @throws Problem 400 that names the fault
 */
export function parseJsonObject(text: string): Record<string, unknown> {
  if (text.trim() === '') throw new Problem(400, 'The body is empty; send a JSON object.');
  const keyCount = countKeysInText(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Problem(400, 'The body is not valid JSON.');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new Problem(400, 'The body must be a JSON object.');
  }
  if (countParsedKeys(value) !== keyCount) throw new Problem(400, 'The body has a duplicate key.');
  return value as Record<string, unknown>;
}

// Counts the colons outside strings, one per key, and limits the depth before anything recurses.
// JSON.parse keeps the last of two equal keys, so a smaller count after parsing means a duplicate.
function countKeysInText(text: string): number {
  let keys = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COLON) keys++;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > JSON_DEPTH) {
        throw new Problem(400, `The body is nested deeper than ${JSON_DEPTH} levels.`);
      }
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return keys;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) {
    at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  }
  return at;
}

/** Checks a parsed value and counts its keys. @param path of the value, for errors */
function countParsedKeys(value: unknown, path = ''): number {
  if (typeof value === 'string') checkString(value);
  else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Problem(400, `${path}: the number is too large.`);
  } else if (Array.isArray(value)) {
    let keys = 0;
    for (const [at, element] of value.entries()) keys += countParsedKeys(element, `${path}.${at}`);
    return keys;
  } else if (value !== null && typeof value === 'object') {
    let keys = 0;
    for (const [key, member] of Object.entries(value)) {
      if (key === '__proto__')
        throw new Problem(400, 'The body has the key "__proto__", which is not allowed.');
      checkString(key);
      keys += 1 + countParsedKeys(member, path === '' ? key : `${path}.${key}`);
    }
    return keys;
  }
  return 0;
}

function checkString(value: string): void {
  if (!value.isWellFormed()) {
    throw new Problem(400, 'The body has a lone surrogate; send well-formed Unicode.');
  }
}
