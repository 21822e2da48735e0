import { INTERVAL_MS } from '../../../protocol/interval.ts';
import { REGISTRATION_MS } from '../../../protocol/limits.ts';

/** Intervals in which a registration counts: its own, and those of the second after it. */
export const LIVE_INTERVALS = Math.ceil(REGISTRATION_MS / INTERVAL_MS) + 1;
/**
 * How far a thread that registers may be ahead of the ring's thread, in intervals. Further ahead, the
 * slot that it needs is in use.
 */
export const AHEAD_INTERVALS = 2;
/** Slots of a cell: one per interval that can have registrations. */
export const SLOTS = LIVE_INTERVALS + AHEAD_INTERVALS;
/**
 * A cell holds 32 seats: a word of present seats, then a word per slot. It is half a cache line, which
 * is all that a heartbeat touches.
 */
export const CELL_WORDS = 1 + SLOTS;
export const CELL_SEATS = 32;

const FIRST_SEATS_LOG2 = 8;
/** Seats of each of the first two chunks. Each later chunk is twice as large as the one before. */
const FIRST_SEATS = 1 << FIRST_SEATS_LOG2;

// Words of `control`.
/** Low bits of the newest interval that has begun; or CLOSED. */
export const NEWEST = 0;
/** Number of present seats, without arrivals that are under way. */
export const TOTAL = 1;
/** Number of arrivals that are under way. */
export const PENDING = 2;
export const CONTROL_WORDS = 3;

/** In place of the newest interval: the ring is closed, and registrations in it do not count. */
export const CLOSED = -1;
const INTERVAL_BITS = 30;

/**
 * The memory of a ring, which threads may share. Chunks never move: a ring grows by adding chunks.
 * Chunks without registered seats are undefined.
 */
export interface SeatMemory {
  readonly control: Int32Array;
  readonly chunks: readonly (Int32Array | undefined)[];
}

/** The chunk that contains a seat. */
export function chunkOf(seat: number): number {
  return 32 - Math.clz32(seat >>> FIRST_SEATS_LOG2);
}

/** The first seat of a chunk. */
export function firstSeatOf(chunk: number): number {
  return chunk === 0 ? 0 : FIRST_SEATS << (chunk - 1);
}

/** Number of seats of a chunk. */
export function seatsOf(chunk: number): number {
  return chunk === 0 ? FIRST_SEATS : firstSeatOf(chunk);
}

// The engine must see indexes as 32-bit integers: with doubles, such as the results of `2 ** n` or of
// `interval % n`, a registration takes four times as long. Hence the shifts and `| 0`.

/** The word of a cell that is the slot of an interval. */
export function slotOf(interval: number): number {
  return (1 + (interval % SLOTS)) | 0;
}

/** The low bits of an interval, as stored in `control`. */
export function lowBits(interval: number): number {
  return (interval % 2 ** INTERVAL_BITS) | 0;
}

/** `interval - other`, from low bits; for differences under four years. */
export function difference(interval: number, other: number): number {
  const spare = 32 - INTERVAL_BITS;
  return ((interval - other) << spare) >> spare;
}

// An atomic operation, also a load, takes ten times as long as a plain one, so these functions use as
// few as possible. A plain read after an atomic operation is not older than that operation: neither the
// engine nor the processor moves an access to a typed array across an atomic one.

/** Registers seats of a cell in a slot, and counts those that were not present. */
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
 * Makes seats present that are in a slot. The total follows a moment later: another thread may find
 * the seat present before it is counted. Therefore a reader of the total first checks PENDING.
 */
function arrive(control: Int32Array, cells: Int32Array, at: number, seats: number): void {
  Atomics.add(control, PENDING, 1);
  const gained = seats & ~Atomics.or(cells, at, seats);
  if (gained !== 0) Atomics.add(control, TOTAL, popcount(gained));
  Atomics.sub(control, PENDING, 1);
}

/**
 * Makes seats absent that were removed from slots, except those that registered meanwhile. Only the
 * ring's own thread calls this.
 *
 * A registration sets the bit of a slot, then reads the present word. This function clears the bit in
 * the present word, then reads the slots. All threads see these atomic operations in the same order.
 * If a registration found its seat present before it was cleared here, its bit was already in the
 * slot, and the second read of the slots finds it. If not, the registration makes the seat present
 * itself. Either way a seat in a slot ends up present and counted once, because only the thread that
 * changed the bit changes the total.
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

/** Number of bits that are set in a 32-bit word (Hacker's Delight, figure 5-2). */
export function popcount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
