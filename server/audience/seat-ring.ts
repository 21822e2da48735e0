import { INTERVAL_MS } from '../../protocol/interval.ts';
import { REGISTRATION_MS, SEATS_MAX } from '../../protocol/limits.ts';
import { popcount } from './popcount.ts';

/** Intervals a registration counts in: those of its second, and the one it was made in. */
export const LIVE_INTERVALS = Math.ceil(REGISTRATION_MS / INTERVAL_MS) + 1;
const SEATS_PER_WORD = 32;
/** Seats of a block: of a stream with more of them each block is counted by itself. */
export const BLOCK_SEATS = 2 ** 20;
const WORDS_PER_BLOCK = BLOCK_SEATS / SEATS_PER_WORD;
const FIRST_WORDS = 8;

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

/**
 * Who is present in one stream: five bitsets over the seats, one for each interval in which a
 * registration still counts. They lie word by word beside each other, so that one heartbeat touches
 * one cache line and allocates nothing.
 *
 * The number of distinct seats is kept as seats come and go: a seat adds one when it is in none of
 * the live intervals, and takes one away when the last interval that has it expires.
 *
 * Time only goes forward: an interval older than the newest one seen is taken for the newest.
 */
export class SeatRing {
  readonly #maxSeats: number;
  /** Word `w` of slot `s` is at `w * LIVE_INTERVALS + s`; interval `i` has slot `i % LIVE_INTERVALS`. */
  #bits = new Uint32Array(FIRST_WORDS * LIVE_INTERVALS);
  #newestInterval = Number.NEGATIVE_INFINITY;
  #newestSlot = 0;
  /** How many seats each slot has. */
  readonly #slotSeats = new Uint32Array(LIVE_INTERVALS);
  #total = 0;
  /** The count at the end of the interval before the newest. */
  #endedTotal = 0;

  /**
   * @param maxSeats seats from 0 to `maxSeats - 1` can register. It bounds the memory used: five bits
   *   a seat, so 10 MiB when all of the default are taken.
   */
  constructor(maxSeats: number = SEATS_MAX) {
    this.#maxSeats = maxSeats;
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
    const first = (seat >>> 5) * LIVE_INTERVALS;
    if (first >= this.#bits.length) this.#grow(seat);
    const bits = this.#bits;
    const mask = 1 << (seat & 31);
    const own = first + this.#newestSlot;
    if (((bits[own] as number) & mask) !== 0) return;
    if ((unionOf(bits, first) & mask) === 0) this.#total += 1;
    (bits[own] as number) |= mask;
    (this.#slotSeats[this.#newestSlot] as number) += 1;
  }

  /** Counts a seat no longer, from this interval on, until it registers again. */
  expel(seat: number, interval: number): void {
    if (!this.isPresent(seat, interval)) return;
    const first = (seat >>> 5) * LIVE_INTERVALS;
    const mask = 1 << (seat & 31);
    for (let slot = 0; slot < LIVE_INTERVALS; slot += 1) {
      if (((this.#bits[first + slot] as number) & mask) === 0) continue;
      (this.#bits[first + slot] as number) &= ~mask;
      (this.#slotSeats[slot] as number) -= 1;
    }
    this.#total -= 1;
  }

  /** How many distinct seats registered in this interval or the four before it (SPEC I-5). */
  count(interval: number): number {
    if (interval > this.#newestInterval) this.#advance(interval);
    return this.#total;
  }

  /**
   * The count that held until `interval` ended, also when heartbeats of the next one have come
   * already. Counted a moment later, a viewer whose next heartbeat is late by the jitter of its
   * timer would be missing for that moment, and the published count would flicker.
   */
  countAtEndOf(interval: number): number {
    if (interval > this.#newestInterval) this.#advance(interval);
    return interval === this.#newestInterval ? this.#total : this.#endedTotal;
  }

  /** Whether the seat is one of those that `count` counts. */
  isPresent(seat: number, interval: number): boolean {
    if (interval > this.#newestInterval) this.#advance(interval);
    const first = Math.floor(seat / SEATS_PER_WORD) * LIVE_INTERVALS;
    return first < this.#bits.length && (unionOf(this.#bits, first) & (1 << (seat & 31))) !== 0;
  }

  /** How many seats registered in one of the live intervals; 0 for any other. */
  seatsIn(interval: number): number {
    return this.#isLive(interval) ? (this.#slotSeats[interval % LIVE_INTERVALS] as number) : 0;
  }

  /** Which seats registered in one of the live intervals, by blocks; none for any other. */
  blocksOf(interval: number): SeatBlock[] {
    if (this.seatsIn(interval) === 0) return [];
    const slot = interval % LIVE_INTERVALS;
    const found: SeatBlock[] = [];
    const words = this.#bits.length / LIVE_INTERVALS;
    for (let first = 0; first < words; first += WORDS_PER_BLOCK) {
      const block = this.#blockOf(slot, first, Math.min(words, first + WORDS_PER_BLOCK));
      if (block !== null) found.push(block);
    }
    return found;
  }

  #blockOf(slot: number, firstWord: number, endWord: number): SeatBlock | null {
    const bits = this.#bits;
    const start = firstWord * LIVE_INTERVALS + slot;
    let end = endWord * LIVE_INTERVALS + slot;
    while (end > start && bits[end - LIVE_INTERVALS] === 0) end -= LIVE_INTERVALS;
    if (end === start) return null;
    const words = new Uint32Array((end - start) / LIVE_INTERVALS);
    let seats = 0;
    for (let word = 0, at = start; at < end; word += 1, at += LIVE_INTERVALS) {
      const value = bits[at] as number;
      if (value === 0) continue;
      words[word] = value;
      seats += popcount(value);
    }
    return { block: firstWord / WORDS_PER_BLOCK, seats, bytes: new Uint8Array(words.buffer) };
  }

  #isLive(interval: number): boolean {
    return interval <= this.#newestInterval && interval > this.#newestInterval - LIVE_INTERVALS;
  }

  #advance(interval: number): void {
    const passed = interval - this.#newestInterval;
    if (passed > LIVE_INTERVALS) {
      if (this.#total > 0) this.#bits.fill(0);
      this.#slotSeats.fill(0);
      this.#total = 0;
      this.#endedTotal = 0;
    } else {
      for (let next = 1; next <= passed; next += 1) {
        this.#endedTotal = this.#total;
        if (this.#total > 0) this.#expire((this.#newestSlot + next) % LIVE_INTERVALS);
      }
    }
    this.#newestInterval = interval;
    this.#newestSlot = interval % LIVE_INTERVALS;
  }

  /** Empties a slot; the seats that were in no other are gone. */
  #expire(slot: number): void {
    if (this.#slotSeats[slot] === 0) return;
    this.#slotSeats[slot] = 0;
    const bits = this.#bits;
    let gone = 0;
    for (let first = 0; first < bits.length; first += LIVE_INTERVALS) {
      const leaving = bits[first + slot] as number;
      if (leaving === 0) continue;
      bits[first + slot] = 0;
      gone += popcount(leaving & ~unionOf(bits, first));
    }
    this.#total -= gone;
  }

  #grow(seat: number): void {
    let words = this.#bits.length / LIVE_INTERVALS;
    while (words * SEATS_PER_WORD <= seat) words *= 2;
    const bits = new Uint32Array(words * LIVE_INTERVALS);
    bits.set(this.#bits);
    this.#bits = bits;
  }
}

/** The seats of one word that are in any live interval. */
function unionOf(bits: Uint32Array, first: number): number {
  let union = 0;
  for (let slot = 0; slot < LIVE_INTERVALS; slot += 1) union |= bits[first + slot] as number;
  return union;
}
