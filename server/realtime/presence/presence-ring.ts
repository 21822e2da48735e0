import { SEATS_MAX } from '../../../protocol/limits.ts';
import {
  AHEAD_INTERVALS,
  CELL_SEATS,
  CELL_WORDS,
  CLOSED,
  CONTROL_WORDS,
  chunkOf,
  firstSeatOf,
  LIVE_INTERVALS,
  leave,
  lowBits,
  NEWEST,
  PENDING,
  popcount,
  register,
  type SeatMemory,
  SLOTS,
  seatsOf,
  slotOf,
  TOTAL,
} from './presence-cells.ts';

/** Seats of a block: of a stream with more of them each block is counted by itself. */
export const BLOCK_SEATS = 2 ** 20;
const BLOCK_WORDS = BLOCK_SEATS / CELL_SEATS;
/** So many chunks are the first block; each of the others is one block or more. */
const BLOCK_CHUNKS = chunkOf(BLOCK_SEATS);

/** Those seats of one block that registered in one interval. */
export interface SeatBlock {
  /** Its seats are those from `block * BLOCK_SEATS` on. */
  readonly block: number;
  /** How many registered. */
  readonly seats: number;
  /**
   * Their bitset, up to the last word that has a bit: the block's seat `s` is bit `s % 8` of byte
   * `s / 8`, from the lowest. SETBIT of Redis numbers the bits of a byte from the highest, so that
   * the same bit is its `s ^ 7`; to BITOP and BITCOUNT the order does not matter.
   */
  readonly bytes: Uint8Array;
}

export interface SeatRingOptions {
  /** Its memory can be given to other threads, who register by `SeatMarks`. */
  readonly isShared?: boolean;
  /** Told when the ring has one more chunk. */
  readonly onGrown?: () => void;
}

/**
 * Who is present in one stream: a bitset over the seats for each interval in which a registration
 * still counts, and one for all of them together. They lie word by word beside each other, so that
 * one heartbeat touches one cache line and allocates nothing.
 *
 * The number of distinct seats is kept as seats come and go: a seat adds one when it is in none of
 * the live intervals, and takes one away when the last interval that has it expires.
 *
 * Time only goes forward: an interval older than the newest one seen is taken for the newest.
 *
 * Other threads may register in the same memory at the same time (`SeatMarks`). All else is for the
 * one thread that has the ring: it alone turns time on, counts, and takes seats out. So no lock is
 * needed; `seat-cells.ts` says why no seat is lost or counted twice. A registration takes 16 ns, and
 * turning time on by an interval 12 µs for each 100,000 seats.
 */
export class PresenceRing {
  readonly #maxSeats: number;
  readonly #options: SeatRingOptions;
  readonly #control: Int32Array;
  readonly #chunks: (Int32Array | undefined)[] = [];
  #newestInterval = Number.NEGATIVE_INFINITY;
  #newestSlot = slotOf(0);
  /** The count at the end of the interval before the newest. */
  #endedTotal = 0;

  /**
   * @param maxSeats seats from 0 to `maxSeats - 1` can register. It bounds the memory used: eight bits
   *   a seat, so 16 MiB when all of the default are taken.
   */
  constructor(maxSeats: number = SEATS_MAX, options: SeatRingOptions = {}) {
    this.#maxSeats = maxSeats;
    this.#options = options;
    this.#control = this.#newWords(CONTROL_WORDS);
    this.#control[NEWEST] = CLOSED;
  }

  /** For `SeatMarks` of other threads. */
  memory(): SeatMemory {
    return { control: this.#control, chunks: [...this.#chunks] };
  }

  /**
   * Counts a seat from this interval on, for the rest of it and four more.
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

  /** Counts a seat no longer, from this interval on, until it registers again. */
  evict(seat: number, interval: number): void {
    if (!this.isPresent(seat, interval)) return;
    const chunk = chunkOf(seat);
    const cells = this.#chunks[chunk] as Int32Array;
    const at = ((seat - firstSeatOf(chunk)) >>> 5) * CELL_WORDS;
    const mask = 1 << (seat & 31);
    for (let slot = 1; slot <= SLOTS; slot += 1) Atomics.and(cells, at + slot, ~mask);
    leave(this.#control, cells, at, mask);
  }

  /** How many distinct seats registered in this interval or the four before it (SPEC I-5). */
  count(interval: number): number {
    if (interval > this.#newestInterval) this.#advance(interval);
    return this.#total();
  }

  /**
   * The count that held until `interval` ended, also when heartbeats of the next one have come
   * already. Counted a moment later, a viewer whose next heartbeat is late by the jitter of its
   * timer would be missing for that moment, and the published count would flicker.
   */
  countAtEndOf(interval: number): number {
    if (interval > this.#newestInterval) this.#advance(interval);
    return interval === this.#newestInterval ? this.#total() : this.#endedTotal;
  }

  /** Whether the seat is one of those that `count` counts. */
  isPresent(seat: number, interval: number): boolean {
    if (interval > this.#newestInterval) this.#advance(interval);
    const chunk = chunkOf(seat);
    const cells = this.#chunks[chunk];
    if (!cells) return false;
    const at = ((seat - firstSeatOf(chunk)) >>> 5) * CELL_WORDS;
    return ((cells[at] as number) & (1 << (seat & 31))) !== 0;
  }

  /** How many seats registered in one of the live intervals; 0 for any other. */
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

  /** Which seats registered in one of the live intervals, by blocks; none for any other. */
  blocksOf(interval: number): SeatBlock[] {
    if (!this.#hasSlot(interval)) return [];
    const found: SeatBlock[] = [];
    for (let first = 0; first < this.#chunks.length; first = Math.max(first + 1, BLOCK_CHUNKS)) {
      const end = Math.max(first + 1, BLOCK_CHUNKS);
      const blocks = first === 0 ? 1 : seatsOf(first) / BLOCK_SEATS;
      for (let block = 0; block < blocks; block += 1) {
        const one = this.#blockOf(slotOf(interval), first, end, block);
        if (one !== null) found.push(one);
      }
    }
    return found;
  }

  /** The block that is made of these chunks; or a part of the only one of them, counted from 0. */
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
   * Gives the ring up, unless somebody is present: what registers in its memory from here on counts
   * nowhere, and whoever tries knows it. A registration looks whether the ring is closed after it
   * was made; so if it does not see that, it was made before the look at the count here.
   */
  close(): boolean {
    Atomics.store(this.#control, NEWEST, CLOSED);
    if (this.#total() === 0) return true;
    Atomics.store(this.#control, NEWEST, lowBits(this.#newestInterval));
    return false;
  }

  #hasSlot(interval: number): boolean {
    const ahead = interval - this.#newestInterval;
    return ahead <= AHEAD_INTERVALS && ahead > -LIVE_INTERVALS;
  }

  #total(): number {
    // First whether anybody is arriving: who was answered before this is in the total then.
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
    else for (let step = 1; step <= passed; step += 1) this.#turn(this.#newestInterval + step);
    this.#newestInterval = interval;
    this.#newestSlot = slotOf(interval);
    Atomics.store(this.#control, NEWEST, lowBits(interval));
  }

  /**
   * Turns time on by one interval: one more has ended, and the oldest counts no longer. Who is in no
   * slot is gone: also a seat that another thread made present when its slot was past already.
   */
  #turn(interval: number): void {
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

  /** Nothing that is in a slot counts any more. */
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
 * The slots when an interval begins, by their words in a cell: the five that count at the end of the
 * one before, the oldest first, and the two that are ahead.
 */
function slotsAround(interval: number) {
  const slot = (back: number) => slotOf(interval - back + SLOTS);
  return [slot(5), slot(4), slot(3), slot(2), slot(1), slot(0), slot(-1)] as const;
}
