import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';

/**
 * The machine-readable time code along the bottom of the test picture: two rows of cells, white for
 * a 1 bit. In reading order: 34 bits of interval number, 8 bits of ms since the interval's start, and
 * a 10-bit CRC. All positions are shares of the frame size, so that it can be read in any rendition.
 */
export const CODE_COLUMNS = 26;
export const CODE_ROWS = 2;
/** Share of the frame height above the time code. */
export const CODE_TOP = 5 / 6;

const INTERVAL_BITS = 34;
const MS_BITS = 8;
const CRC_BITS = 10;
/** Number of cells. */
export const CODE_BITS = INTERVAL_BITS + MS_BITS + CRC_BITS;

// CRC-10 of ATM (ITU-T I.610): x^10 + x^9 + x^5 + x^4 + x + 1. The initial value is all ones, so that
// a black frame is not a valid code.
const CRC_POLYNOMIAL = 0x233;
const CRC_INITIAL = 0x3ff;

/** Encodes a time, Unix ms, as cells in reading order: 1 is white. */
export function encodeTimeCode(unixMs: number): number[] {
  const interval = intervalAt(unixMs);
  const bits = [
    ...toBits(interval, INTERVAL_BITS),
    ...toBits(Math.floor(unixMs - intervalStartMs(interval)), MS_BITS),
  ];
  return [...bits, ...toBits(crcOf(bits), CRC_BITS)];
}

/** Decodes cells to Unix ms; null when they are not a valid code. */
export function decodeTimeCode(cells: readonly number[]): number | null {
  if (cells.length !== CODE_BITS) return null;
  const payload = cells.slice(0, INTERVAL_BITS + MS_BITS);
  if (fromBits(cells.slice(payload.length)) !== crcOf(payload)) return null;
  const ms = fromBits(payload.slice(INTERVAL_BITS));
  if (ms >= INTERVAL_MS) return null;
  return intervalStartMs(fromBits(payload.slice(0, INTERVAL_BITS))) + ms;
}

// By division, since values have more than 32 bits.
function toBits(value: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => {
    return Math.floor(value / 2 ** (count - 1 - index)) % 2;
  });
}

function fromBits(bits: readonly number[]): number {
  return bits.reduce((value, bit) => 2 * value + bit, 0);
}

function crcOf(bits: readonly number[]): number {
  const top = 1 << (CRC_BITS - 1);
  const mask = 2 * top - 1;
  return bits.reduce((crc, bit) => {
    const isOdd = ((crc & top) !== 0) !== (bit === 1);
    return ((crc << 1) & mask) ^ (isOdd ? CRC_POLYNOMIAL : 0);
  }, CRC_INITIAL);
}
