import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { RandomBytes } from '../../auth/secrets.ts';
import type { tokenProcedures } from '../../auth/viewer-tokens/tokens-sql.ts';
import { atMostEntries } from '../../platform/cache-size.ts';
import type { Calls } from '../../storage/sql/procedure.ts';

/** The code of the viewer with this seat, such as `KOTA-4729` (SPEC W-13). */
export type WinnerCode = (streamId: string, seat: number) => string;

export interface WinnerCodeDeps {
  readonly store: Pick<Calls<typeof tokenProcedures>, 'keepSecret'>;
  readonly randomBytes: RandomBytes;
}

const SECRET_BYTES = 32;
// Two syllables and four digits have 24 bits, as seats have. No letter looks like another one or like
// a digit: there is no I, O beside Q, 0 or 1.
const CONSONANTS = 'BDFGHJKLMNRSTVWZ';
const VOWELS = 'AEOU';
const DIGITS = '23456789';
// Letters and digits of other scripts, and with marks, may look like those of a code.
const letterLike = (chars: string) => `(?:[${chars}]|(?![a-z])\\p{L})`;
const DIGIT_LIKE = `(?:[${DIGITS}]|(?![0-9])\\p{N})`;
const SYLLABLE = [letterLike(CONSONANTS), letterLike(`${VOWELS}0`)];
const CODE_CHARS = [...SYLLABLE, ...SYLLABLE, ...Array<string>(4).fill(DIGIT_LIKE)];
// Default-ignorable characters are invisible; some of them are letters, such as U+3164.
const MARKS_AND_INVISIBLE = /[\p{M}\p{DI}]/gu;
/**
 * Symbols and small raised letters and digits, such as ™, №, ① and ², may decorate a code, but decompose
 * into letters and digits. Those of flags do not.
 */
const ORNAMENTS = /[[\p{S}\p{No}[\p{sc=Latn}&&[\p{Lm}\p{Lo}]]]--\p{RI}]/gv;
/**
 * Letters and numerals that look like punctuation, such as ʼ, ー and 〇. After a Japanese letter they are
 * part of its word: マーリオン has five letters.
 */
const PUNCTUATION_LIKE = /(?<![\p{sc=Hira}\p{sc=Kana}\p{sc=Han}])[\p{Lm}\p{Nl}]/gu;
const NOT_ASCII = /\P{ASCII}/gu;
/** Enclosed letters that Unicode does not decompose: each range is an alphabet from A on. */
const ENCLOSED_LETTERS = /[\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}\u{1f1e6}-\u{1f1ff}]/gu;
const ENCLOSED_ALPHABETS = [0x1f1e6, 0x1f170, 0x1f150];
const CODE = new RegExp(
  `(?<![\\p{L}\\p{N}])${CODE_CHARS.join('[^\\p{L}\\p{N}]*')}(?![\\p{L}\\p{N}])`,
  'iu',
);
const HALF_BITS = 12;
const HALF_MASK = (1 << HALF_BITS) - 1;
const ROUNDS = 4;
/** A live state has 100 codes twice a second, of about 10 µs each: this keeps those of 1,000 shows. */
const CACHED_CODES_MAX = 100_000;

/** Codes with the secret of this database: all nodes give the same ones, also after a restart. */
export async function createWinnerCode({
  store,
  randomBytes,
}: WinnerCodeDeps): Promise<WinnerCode> {
  const offered = Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url');
  const secret = await store.keepSecret({ name: 'winner-code', offered });
  return (streamId, seat) => winnerCode(secret, streamId, seat);
}

/** Keeps the codes that were used last. */
export function cachedWinnerCode(compute: WinnerCode): WinnerCode {
  const codes = new LRUCache<string, string>(atMostEntries(CACHED_CODES_MAX));
  return (streamId, seat) => {
    const key = `${streamId} ${seat}`;
    const cached = codes.get(key);
    if (cached !== undefined) return cached;
    const code = compute(streamId, seat);
    codes.set(key, code);
    return code;
  };
}

/**
 * The code of a seat. Without the secret it says nothing about the viewer, and two seats of a stream
 * never have the same one.
 * @param seat below 2^24
 */
export function winnerCode(secret: string, streamId: string, seat: number): string {
  const bits = permute(secret, streamId, seat);
  const letters = [
    CONSONANTS.charAt(bits >>> 20),
    VOWELS.charAt((bits >>> 18) & 3),
    CONSONANTS.charAt((bits >>> 14) & 15),
    VOWELS.charAt((bits >>> 12) & 3),
  ];
  const digits = [9, 6, 3, 0].map((shift) => DIGITS.charAt((bits >>> shift) & 7));
  return `${letters.join('')}-${digits.join('')}`;
}

/** Whether a name could be read as a code, or has one: a viewer could pose as another winner with it. */
export function isLikeCode(name: string): boolean {
  // Spaces do not hide a code that has ornaments as letters.
  const spaced = name.replace(ORNAMENTS, ' $& ');
  return [spaced, spaced.replace(PUNCTUATION_LIKE, ' ')].some((text) => {
    const plain = text.normalize('NFKD').replace(MARKS_AND_INVISIBLE, '');
    // A flag before a code is two enclosed letters, but no part of the word.
    return hasCode(plain) || hasCode(plain.replace(ENCLOSED_LETTERS, asciiLetter));
  });
}

function hasCode(text: string): boolean {
  // A code in ASCII stands out between letters of any other script.
  return CODE.test(text) || CODE.test(text.replace(NOT_ASCII, ' '));
}

function asciiLetter(enclosed: string): string {
  const codePoint = enclosed.codePointAt(0) ?? 0;
  const start = ENCLOSED_ALPHABETS.find((first) => first <= codePoint) ?? codePoint;
  return String.fromCharCode('A'.charCodeAt(0) + codePoint - start);
}

/** A permutation of 24 bits: a Feistel network, whose round function is an HMAC. */
function permute(secret: string, streamId: string, value: number): number {
  let left = value >>> HALF_BITS;
  let right = value & HALF_MASK;
  for (let round = 0; round < ROUNDS; round++) {
    const digest = createHmac('sha256', secret).update(`${streamId}\0${round}\0${right}`).digest();
    [left, right] = [right, left ^ (digest.readUInt16BE(0) & HALF_MASK)];
  }
  return (left << HALF_BITS) | right;
}
