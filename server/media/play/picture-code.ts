import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';

/**
 * The strip along the bottom of the test picture that a program reads: cells in two rows, white
 * for a one. In reading order: 34 bits of the interval number, 8 bits of the ms since it began, and
 * 10 bits that tell a wrong reading. Everything is a share of the picture's size, so that it is
 * found in any rendition.
 */
export const CODE_COLUMNS = 26;
export const CODE_ROWS = 2;
/** The share of the picture's height that lies above the strip. */
export const CODE_TOP = 5 / 6;

const INTERVAL_BITS = 34;
const MS_BITS = 8;
const CHECK_BITS = 10;
/** Cells of the strip. */
export const CODE_BITS = INTERVAL_BITS + MS_BITS + CHECK_BITS;

// CRC-10 of ATM (ITU-T I.610): x^10 + x^9 + x^5 + x^4 + x + 1. It begins with ones, so that a black
// picture is no code.
const CHECK_POLYNOMIAL = 0x233;
const CHECK_START = 0x3ff;

/** The cells of a moment, Unix ms, in reading order: 1 is white. */
export function codeOf(unixMs: number): number[] {
  const interval = intervalAt(unixMs);
  const bits = [
    ...bitsOf(interval, INTERVAL_BITS),
    ...bitsOf(Math.floor(unixMs - intervalStartMs(interval)), MS_BITS),
  ];
  return [...bits, ...bitsOf(checkOf(bits), CHECK_BITS)];
}

/** The moment that cells say, Unix ms; null when they are no code. */
export function momentOf(code: readonly number[]): number | null {
  if (code.length !== CODE_BITS) return null;
  const told = code.slice(0, INTERVAL_BITS + MS_BITS);
  if (numberOf(code.slice(told.length)) !== checkOf(told)) return null;
  const ms = numberOf(told.slice(INTERVAL_BITS));
  if (ms >= INTERVAL_MS) return null;
  return intervalStartMs(numberOf(told.slice(0, INTERVAL_BITS))) + ms;
}

// More than 32 bits, so by division and not by shifting.
function bitsOf(value: number, count: number): number[] {
  return Array.from({ length: count }, (_, place) => {
    return Math.floor(value / 2 ** (count - 1 - place)) % 2;
  });
}

function numberOf(bits: readonly number[]): number {
  return bits.reduce((value, bit) => 2 * value + bit, 0);
}

function checkOf(bits: readonly number[]): number {
  const top = 1 << (CHECK_BITS - 1);
  const mask = 2 * top - 1;
  return bits.reduce((check, bit) => {
    const isOdd = ((check & top) !== 0) !== (bit === 1);
    return ((check << 1) & mask) ^ (isOdd ? CHECK_POLYNOMIAL : 0);
  }, CHECK_START);
}
