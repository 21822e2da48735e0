const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** What a text has outside strings. */
export interface JsonScan {
  /** The number of keys, counted by the colons. */
  readonly keys: number;
  /** The number of values that follow another one, in an array or an object. */
  readonly commas: number;
  /**
   * The sum, over all objects, of their largest member names that are numbers below 100,000. The runtime stores such
   * members in an array: an object with the name 999 takes 8 KB, and 13 names of 120 bytes together a megabyte.
   */
  readonly indexes: number;
}

/** A larger index takes no array. */
const INDEX = /^\d{1,5}$/;
/** Five digits, each as an escape of six characters. */
const INDEX_CHARS_MAX = 30;

/**
 * Reads a text before it is parsed: parsing 1 MB of `[` takes 250 ms of the event loop, and this ends at
 * the first bracket that is too deep. The text need not be valid JSON.
 * @returns null when the text is nested deeper than `depthMax` levels
 */
export function scanJson(text: string, depthMax: number): JsonScan | null {
  let keys = 0;
  let commas = 0;
  let indexes = 0;
  let depth = 0;
  /** The largest index of the open object of each level. */
  const largest: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      const index = indexOf(text, at, end);
      const more = index - (largest[depth] ?? 0);
      if (more > 0) {
        largest[depth] = index;
        indexes += more;
      }
      at = end;
    } else if (code === COLON) keys++;
    else if (code === COMMA) commas++;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > depthMax) return null;
      largest[depth] = 0;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return { keys, commas, indexes };
}

/** @returns a member name that is an array index; 0: the string is none */
function indexOf(text: string, start: number, end: number): number {
  const first = text.charCodeAt(start + 1);
  const isPossible = first === BACKSLASH || (first >= DIGIT_0 && first <= DIGIT_9);
  if (!isPossible || end - start - 1 > INDEX_CHARS_MAX || !isColonNext(text, end)) return 0;
  // No other escapes are digits.
  const name = text.slice(start + 1, end).replaceAll('\\u003', '');
  return INDEX.test(name) ? Number(name) : 0;
}

function isColonNext(text: string, end: number): boolean {
  let at = end + 1;
  while (text.charCodeAt(at) <= SPACE) at++;
  return text.charCodeAt(at) === COLON;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) {
    at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  }
  return at;
}
