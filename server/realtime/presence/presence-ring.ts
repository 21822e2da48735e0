import { INTERVAL_MS } from '../../../protocol/interval.ts';
import { REGISTRATION_MS, SEATS_MAX } from '../../../protocol/limits.ts';

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
/** Number of present seats, without those that `arrive` has not counted yet. */
export const TOTAL = 1;
/** Number of calls of `arrive` that are under way, in all threads. */
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

export function chunkOf(seat: number): number {
  return 32 - Math.clz32(seat >>> FIRST_SEATS_LOG2);
}

export function firstSeatOf(chunk: number): number {
  return chunk === 0 ? 0 : FIRST_SEATS << (chunk - 1);
}

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

/** Seats of a block. Redis counts each block of a stream by itself. */
export const BLOCK_SEATS = 2 ** 20;
const BLOCK_WORDS = BLOCK_SEATS / CELL_SEATS;
/** The first block consists of this many chunks; each later chunk is one block or more. */
const BLOCK_CHUNKS = chunkOf(BLOCK_SEATS);

/** The seats of one block that registered in one interval. */
export interface SeatBlock {
  /** Its first seat is `block * BLOCK_SEATS`. */
  readonly block: number;
  readonly seats: number;
  /**
   * Bitset of the seats, up to the last word with a bit: seat `s` of the block is bit `s % 8` of byte
   * `s / 8`, from the lowest. SETBIT of Redis numbers the bits of a byte from the highest, so it is
   * its bit `s ^ 7`. The order does not matter to BITOP and BITCOUNT.
   */
  readonly bytes: Uint8Array;
}

export interface PresenceRingOptions {
  /** Whether other threads register in its memory, by `SharedPresenceWriter`. */
  readonly isShared?: boolean;
  /** Called when the ring has a new chunk. */
  readonly onGrown?: () => void;
}

/**
 * The seats that are present in one stream: a bitset for each interval in which a registration still
 * counts, and one of all present seats. They are interleaved word by word, so that a heartbeat touches
 * one cache line and allocates nothing.
 *
 * The number of distinct seats is maintained: a seat adds one when it registers and is not present,
 * and removes one when the last interval that has it expires.
 *
 * Time only moves forward: an interval older than the newest counts as the newest.
 *
 * Other threads may register in the same memory at the same time (`SharedPresenceWriter`). Only the
 * thread that owns the ring advances it, counts, and evicts seats. So no lock is needed;
 * `leave` explains why no seat is lost or counted twice. A registration takes 16 ns, and advancing by
 * an interval 12 µs per 100,000 seats.
 */
export class PresenceRing {
  readonly #maxSeats: number;
  readonly #options: PresenceRingOptions;
  readonly #control: Int32Array;
  readonly #chunks: (Int32Array | undefined)[] = [];
  #newestInterval = Number.NEGATIVE_INFINITY;
  #newestSlot = slotOf(0);
  /** The count at the end of the interval before the newest. */
  #endedTotal = 0;

  /**
   * @param maxSeats seats from 0 to `maxSeats - 1` can register. It bounds the memory: eight bits per
   *   seat, which is 16 MiB for the default.
   */
  constructor(maxSeats: number = SEATS_MAX, options: PresenceRingOptions = {}) {
    this.#maxSeats = maxSeats;
    this.#options = options;
    this.#control = this.#newWords(CONTROL_WORDS);
    this.#control[NEWEST] = CLOSED;
  }

  /** The memory for `SharedPresenceWriter` in other threads. */
  memory(): SeatMemory {
    return { control: this.#control, chunks: [...this.#chunks] };
  }

  /**
   * Counts a seat for the rest of this interval and the four after it.
   * @throws RangeError when the seat is not a whole number from 0 to below `maxSeats`.
   */
  register(seat: number, interval: number): void {
    if (seat >>> 0 !== seat || seat >= this.#maxSeats) {
      throw new RangeError(`seat ${seat} is not one of ${this.#maxSeats}`);
    }
    if (interval > this.#newestInterval) this.#advance(interval);
    const chunk = chunkOf(seat);
    const cells = this.#chunks[chunk] ?? this.#grow(chunk);
    const at = ((seat - firstSeatOf(chunk)) >>> 5) * CELL_WORDS;
    register(this.#control, cells, at, this.#newestSlot, 1 << (seat & 31));
  }

  /** Stops counting a seat, from this interval on, until it registers again. */
  evict(seat: number, interval: number): void {
    if (!this.isPresent(seat, interval)) return;
    const chunk = chunkOf(seat);
    const cells = this.#chunks[chunk] as Int32Array;
    const at = ((seat - firstSeatOf(chunk)) >>> 5) * CELL_WORDS;
    const mask = 1 << (seat & 31);
    for (let slot = 1; slot <= SLOTS; slot += 1) Atomics.and(cells, at + slot, ~mask);
    leave(this.#control, cells, at, mask);
  }

  /** Number of distinct seats that registered in this interval or the four before it (SPEC I-5). */
  count(interval: number): number {
    if (interval > this.#newestInterval) this.#advance(interval);
    return this.#total();
  }

  /**
   * The count at the end of `interval`, also when the next one has registrations already. A count a
   * moment later would lack viewers whose heartbeat is late by the jitter of their timer, and the
   * published count would flicker.
   */
  countAtEndOf(interval: number): number {
    if (interval > this.#newestInterval) this.#advance(interval);
    return interval === this.#newestInterval ? this.#total() : this.#endedTotal;
  }

  /** Whether `count` includes the seat. */
  isPresent(seat: number, interval: number): boolean {
    if (interval > this.#newestInterval) this.#advance(interval);
    const chunk = chunkOf(seat);
    const cells = this.#chunks[chunk];
    if (!cells) return false;
    const at = ((seat - firstSeatOf(chunk)) >>> 5) * CELL_WORDS;
    return ((cells[at] as number) & (1 << (seat & 31))) !== 0;
  }

  /** Number of seats that registered in a live interval; 0 for any other interval. */
  seatsIn(interval: number): number {
    if (!this.#hasSlot(interval)) return 0;
    const slot = slotOf(interval);
    let seats = 0;
    for (const cells of this.#chunks) {
      if (!cells) continue;
      for (let at = slot; at < cells.length; at += CELL_WORDS) {
        const word = cells[at] as number;
        if (word !== 0) seats += popcount(word);
      }
    }
    return seats;
  }

  /** The seats that registered in a live interval, by block; none for any other interval. */
  blocksOf(interval: number): SeatBlock[] {
    if (!this.#hasSlot(interval)) return [];
    const seatBlocks: SeatBlock[] = [];
    for (let first = 0; first < this.#chunks.length; first = Math.max(first + 1, BLOCK_CHUNKS)) {
      const end = Math.max(first + 1, BLOCK_CHUNKS);
      const blocks = first === 0 ? 1 : seatsOf(first) / BLOCK_SEATS;
      for (let block = 0; block < blocks; block += 1) {
        const seats = this.#blockOf(slotOf(interval), first, end, block);
        if (seats !== null) seatBlocks.push(seats);
      }
    }
    return seatBlocks;
  }

  /** The block that consists of these chunks; or block `part` of a single large chunk. */
  #blockOf(slot: number, first: number, end: number, part: number): SeatBlock | null {
    const chunks = this.#chunks.slice(first, end);
    const last = chunks.findLastIndex((cells) => cells !== undefined);
    if (last < 0) return null;
    const words = new Uint32Array(
      Math.min(BLOCK_WORDS, (firstSeatOf(first + last) + seatsOf(first + last)) / CELL_SEATS),
    );
    let seats = 0;
    let length = 0;
    for (const [index, cells] of chunks.entries()) {
      if (!cells) continue;
      let word = first === 0 ? firstSeatOf(index) / CELL_SEATS : 0;
      const from = part * BLOCK_WORDS * CELL_WORDS;
      const to = Math.min(cells.length, from + BLOCK_WORDS * CELL_WORDS);
      for (let at = from + slot; at < to; at += CELL_WORDS, word += 1) {
        const value = cells[at] as number;
        if (value === 0) continue;
        words[word] = value;
        seats += popcount(value);
        length = word + 1;
      }
    }
    if (seats === 0) return null;
    const block = first === 0 ? 0 : firstSeatOf(first) / BLOCK_SEATS + part;
    return { block, seats, bytes: new Uint8Array(words.slice(0, length).buffer) };
  }

  /**
   * Closes the ring unless a seat is present: later registrations in its memory do not count, and
   * writers see that. A writer checks for CLOSED after it has registered; if it does not see it, its
   * registration precedes the check of the count here.
   * @returns whether the ring is closed
   */
  close(): boolean {
    this.discard();
    if (this.#total() === 0) return true;
    Atomics.store(this.#control, NEWEST, lowBits(this.#newestInterval));
    return false;
  }

  /** Closes the ring, whether or not seats are present. It must not be used any more. */
  discard(): void {
    Atomics.store(this.#control, NEWEST, CLOSED);
  }

  #hasSlot(interval: number): boolean {
    const ahead = interval - this.#newestInterval;
    return ahead <= AHEAD_INTERVALS && ahead > -LIVE_INTERVALS;
  }

  #total(): number {
    // Read PENDING first: if it is 0, the total includes every registration that has returned.
    const isArriving = Atomics.load(this.#control, PENDING) !== 0;
    if (!isArriving) return Atomics.load(this.#control, TOTAL);
    let total = 0;
    for (const cells of this.#chunks) {
      if (!cells) continue;
      for (let at = 0; at < cells.length; at += CELL_WORDS) total += popcount(cells[at] as number);
    }
    return total;
  }

  #advance(interval: number): void {
    const passed = interval - this.#newestInterval;
    if (passed > SLOTS) this.#clear();
    else for (let step = 1; step <= passed; step += 1) this.#step(this.#newestInterval + step);
    this.#newestInterval = interval;
    this.#newestSlot = slotOf(interval);
    Atomics.store(this.#control, NEWEST, lowBits(interval));
  }

  /**
   * Advances by one interval: the oldest slot stops counting. Seats in no slot become absent, also
   * those that another thread made present when their slot was past already.
   */
  #step(interval: number): void {
    const [oldest, second, third, fourth, last, next, afterNext] = slotsAround(interval);
    let ended = 0;
    for (const cells of this.#chunks) {
      if (!cells) continue;
      for (let at = 0; at < cells.length; at += CELL_WORDS) {
        const present = cells[at] as number;
        const leaving = cells[at + oldest] as number;
        if ((leaving | present) === 0) continue;
        const stay =
          (cells[at + second] as number) |
          (cells[at + third] as number) |
          (cells[at + fourth] as number) |
          (cells[at + last] as number);
        const ahead = (cells[at + next] as number) | (cells[at + afterNext] as number);
        ended += popcount(leaving | stay);
        if (leaving !== 0) cells[at + oldest] = 0;
        const gone = present & ~(stay | ahead);
        if (gone !== 0) leave(this.#control, cells, at, gone);
      }
    }
    this.#endedTotal = ended;
  }

  /** Clears all slots, after a gap in which all registrations have expired. */
  #clear(): void {
    this.#endedTotal = 0;
    for (const cells of this.#chunks) {
      if (!cells) continue;
      for (let at = 0; at < cells.length; at += CELL_WORDS) {
        const present = cells[at] as number;
        cells.fill(0, at + 1, at + CELL_WORDS);
        if (present !== 0) leave(this.#control, cells, at, present);
      }
    }
  }

  #grow(chunk: number): Int32Array {
    while (this.#chunks.length <= chunk) this.#chunks.push(undefined);
    const cells = this.#newWords((seatsOf(chunk) / CELL_SEATS) * CELL_WORDS);
    this.#chunks[chunk] = cells;
    this.#options.onGrown?.();
    return cells;
  }

  #newWords(length: number): Int32Array {
    if (!this.#options.isShared) return new Int32Array(length);
    return new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT));
  }
}

/**
 * The words of the slots in a cell when an interval begins: the five that count at the end of the
 * interval before, oldest first, and the two that are ahead.
 */
function slotsAround(interval: number) {
  const slot = (back: number) => slotOf(interval - back + SLOTS);
  return [slot(5), slot(4), slot(3), slot(2), slot(1), slot(0), slot(-1)] as const;
}
