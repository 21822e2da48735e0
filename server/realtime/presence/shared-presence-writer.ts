import {
  AHEAD_INTERVALS,
  CELL_WORDS,
  CLOSED,
  chunkOf,
  difference,
  firstSeatOf,
  lowBits,
  NEWEST,
  register,
  type SeatMemory,
  SLOTS,
  slotOf,
} from './presence-ring.ts';

/**
 * Registers in the `PresenceRing` of another thread, in shared memory and without locks. When
 * `register` returns true, the seat is in a slot that counts, because:
 *
 * - The ring's thread clears the slots of the newest interval and the two after it before it publishes
 *   that interval, and does not clear them again for five intervals.
 * - If the ring advances while this thread sets the bit, this thread sees the newer interval
 *   afterwards and registers in that one as well.
 *
 * A thread that is suspended for over a second after it read the newest interval may set the bit in a
 * slot that belongs to another interval by then. Its seat counts for up to half a second too long,
 * never too short.
 */
export class SharedPresenceWriter {
  #interval = Number.NaN;
  #lowBits = 0;
  #slot = 0;

  constructor(private readonly memory: SeatMemory) {}

  /**
   * Counts a seat for the rest of this interval and the four after it.
   * @returns false when only the ring's thread can register it now: the ring is closed, has no chunk
   *   for this seat yet, or its thread is late by more than two intervals
   */
  register(seat: number, interval: number): boolean {
    const { control, chunks } = this.memory;
    const chunk = chunkOf(seat);
    const cells = chunks[chunk];
    if (cells === undefined || seat >>> 0 !== seat) return false;
    if (interval !== this.#interval) this.#setInterval(interval);
    const at = ((seat - firstSeatOf(chunk)) >>> 5) * CELL_WORDS;
    for (let newest = control[NEWEST] as number; ; ) {
      const ahead = newest === CLOSED ? SLOTS : difference(this.#lowBits, newest);
      if (ahead > AHEAD_INTERVALS) return false;
      // An interval that is over counts as the newest.
      const slot = ahead >= 0 ? this.#slot : slotOf(this.#slot - 1 - ahead);
      register(control, cells, at, slot, 1 << (seat & 31));
      // Read after the atomic operations in `register`, so it is not older than those.
      const newer = control[NEWEST] as number;
      if (newer === newest) return true;
      newest = newer;
    }
  }

  #setInterval(interval: number): void {
    this.#interval = interval;
    this.#lowBits = lowBits(interval);
    this.#slot = slotOf(interval);
  }
}
