import { INTERVAL_MS } from '../../../protocol/interval.ts';
import { REGISTRATION_MS } from '../../../protocol/limits.ts';

/** Intervals a registration counts in: those of its second, and the one it was made in. */
export const LIVE_INTERVALS = Math.ceil(REGISTRATION_MS / INTERVAL_MS) + 1;
/**
 * Intervals that may be registered in before the ring's thread knows that they have begun. A thread
 * that is further ahead waits: the slot it would need is in use.
 */
export const AHEAD_INTERVALS = 2;
/** A slot for each interval that can have registrations. */
export const SLOTS = LIVE_INTERVALS + AHEAD_INTERVALS;
/**
 * A cell is 32 seats: the word of who is present, then one for each slot. It is half a cache line,
 * which is all that a heartbeat touches of them.
 */
export const CELL_WORDS = 1 + SLOTS;
export const CELL_SEATS = 32;

const FIRST_SEATS_LOG2 = 8;
/** Seats of the first chunk, and of the second; each one after it is twice as large. */
const FIRST_SEATS = 1 << FIRST_SEATS_LOG2;

// Words of `control`.
/** The newest interval that has begun, its low bits; or CLOSED. */
export const NEWEST = 0;
/** How many seats are present, but for those of arrivals that are under way. */
export const TOTAL = 1;
/** Arrivals that are under way. */
export const PENDING = 2;
export const CONTROL_WORDS = 3;

/** In place of the newest interval: the ring is given up, and what registers in it counts nowhere. */
export const CLOSED = -1;
const INTERVAL_BITS = 30;

/**
 * The memory of a ring, which threads may share. Chunks never move: a ring grows by one more, and
 * those of seats that nobody has are missing.
 */
export interface SeatMemory {
  readonly control: Int32Array;
  readonly chunks: readonly (Int32Array | undefined)[];
}

/** The chunk that a seat is in. */
export function chunkOf(seat: number): number {
  return 32 - Math.clz32(seat >>> FIRST_SEATS_LOG2);
}

/** The first seat of a chunk. */
export function firstSeatOf(chunk: number): number {
  return chunk === 0 ? 0 : FIRST_SEATS << (chunk - 1);
}

/** How many seats a chunk has. */
export function seatsOf(chunk: number): number {
  return chunk === 0 ? FIRST_SEATS : firstSeatOf(chunk);
}

// Indexes must be integers of 32 bits to the engine: with a double, such as `2 ** n` or the rest of an
// interval is to it, a registration takes four times as long. Hence shifts, and `| 0`.

/** Which word of a cell is the slot of an interval. */
export function slotOf(interval: number): number {
  return (1 + (interval % SLOTS)) | 0;
}

/** An interval as `control` has it. */
export function lowBits(interval: number): number {
  return (interval % 2 ** INTERVAL_BITS) | 0;
}

/** `interval - other`, of low bits; for less than four years. */
export function difference(interval: number, other: number): number {
  const spare = 32 - INTERVAL_BITS;
  return ((interval - other) << spare) >> spare;
}

// An atomic operation takes ten times as long as another, a load as well. So each of these has only
// those that it needs. What is read without one after an atomic operation is not older than that: the
// engine moves no access to a typed array over an atomic one, and neither does the processor.

/** Registers seats of a cell in a slot, and sees to it that they are counted. */
export function register(
  control: Int32Array,
  cells: Int32Array,
  at: number,
  slot: number,
  seats: number,
): void {
  Atomics.or(cells, at + slot, seats);
  if ((Atomics.load(cells, at) & seats) !== seats) arrive(control, cells, at, seats);
}

/**
 * Makes seats present that are in a slot. The total follows a moment later: whoever finds a seat
 * present and goes on cannot know whether it is counted yet, so whoever reads the total looks first
 * whether any arrival is under way.
 */
function arrive(control: Int32Array, cells: Int32Array, at: number, seats: number): void {
  Atomics.add(control, PENDING, 1);
  const gained = seats & ~Atomics.or(cells, at, seats);
  if (gained !== 0) Atomics.add(control, TOTAL, popcount(gained));
  Atomics.sub(control, PENDING, 1);
}

/**
 * Makes seats present no longer that were taken out of slots, but for those that registered
 * meanwhile. For the ring's own thread.
 *
 * Whoever registers sets the bit of a slot, and looks at `present` after that. Here the bit of
 * `present` is cleared, and the slots are looked at after that. All of these are in one order that
 * every thread sees. So if a registration found its seat present before it was cleared here, its bit
 * was in the slot before that, and the second look finds it; and if not, it makes the seat present
 * itself. Either way a seat that is in a slot is present in the end, and counted once: the total is
 * changed only by who changed the bit.
 */
export function leave(control: Int32Array, cells: Int32Array, at: number, seats: number): void {
  const gone = Atomics.and(cells, at, ~seats) & seats;
  if (gone === 0) return;
  Atomics.sub(control, TOTAL, popcount(gone));
  let union = 0;
  for (let slot = 1; slot <= SLOTS; slot += 1) union |= Atomics.load(cells, at + slot);
  const back = gone & union;
  if (back !== 0) arrive(control, cells, at, back);
}

/** How many bits of a 32-bit word are set (Hacker's Delight, figure 5-2). */
export function popcount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
