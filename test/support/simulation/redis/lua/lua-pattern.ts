import { LuaError } from './lua-table.ts';

const CLASSES: Readonly<Record<string, string>> = {
  a: 'A-Za-z',
  d: '0-9',
  l: 'a-z',
  s: ' \\t\\n\\v\\f\\r',
  u: 'A-Z',
  w: 'A-Za-z0-9',
  x: 'A-Fa-f0-9',
};
const QUANTIFIERS: Readonly<Record<string, string>> = { '*': '*', '+': '+', '-': '*?', '?': '?' };
const PLAIN = /[A-Za-z0-9_:;,=<>@#!&~"' ]/;
const ESCAPABLE = /[-.%*+?[\]^$():]/;

/**
 * Translates a Lua pattern to the source of a regular expression.
 * @throws LuaError for constructs that no function of the library uses: sets, `%b`, `%f`, `()`
 */
export function translatePattern(pattern: string): string {
  const unsupported = () => new LuaError(`the pattern '${pattern}' is not supported`);
  let source = '';
  let at = 0;
  let isGroupEmpty = false;
  if (pattern.startsWith('^')) {
    source = '^';
    at = 1;
  }
  while (at < pattern.length) {
    const char = pattern[at] as string;
    if (char === '$' && at === pattern.length - 1) return `${source}$`;
    if (char === '(' || char === ')') {
      if (char === ')' && isGroupEmpty) throw unsupported();
      isGroupEmpty = char === '(';
      source += char;
      at += 1;
      // In Lua a group has no quantifier: the character would be matched literally.
      if (char === ')' && (pattern[at] ?? '') in QUANTIFIERS) throw unsupported();
      continue;
    }
    const single = translateSingle(pattern, at);
    if (single === null) throw unsupported();
    isGroupEmpty = false;
    at += single.length;
    source += single.source;
    const quantifier = QUANTIFIERS[pattern[at] ?? ''];
    if (quantifier === undefined) continue;
    source += quantifier;
    at += 1;
  }
  return source;
}

/** Translates what matches one character; null when it is not supported. */
function translateSingle(pattern: string, at: number): { source: string; length: number } | null {
  const char = pattern[at] as string;
  if (char === '.') return { source: '[\\s\\S]', length: 1 };
  if (char !== '%') return PLAIN.test(char) ? { source: char, length: 1 } : null;
  const next = pattern[at + 1] ?? '';
  const positive = CLASSES[next];
  if (positive !== undefined) return { source: `[${positive}]`, length: 2 };
  const negative = CLASSES[next.toLowerCase()];
  if (negative !== undefined) return { source: `[^${negative}]`, length: 2 };
  return ESCAPABLE.test(next) ? { source: `\\${next}`, length: 2 } : null;
}
