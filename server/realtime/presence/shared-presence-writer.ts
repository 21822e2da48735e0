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
} from './presence-cells.ts';

/**
 * The ring of another thread, to register in. A registration is in the slot of its interval before
 * it is said to be made, and that slot counts then:
 *
 * - The slots of the newest interval and of the two after it are empty before the ring's thread tells
 *   others of the newest, and it clears them no more until five intervals later.
 * - If time was turned on while this thread set the bit, it sees a newer interval after that, and
 *   registers in that one, too.
 *
 * A thread that stands still for over a second after it looked what the newest interval is, and then
 * sets the bit in a slot that is another interval's meanwhile, counts its seat for half a second too
 * long, never too short.
 */
export class SharedPresenceWriter {
  #interval = Number.NaN;
  #low = 0;
  #slot = 0;

  constructor(private readonly memory: SeatMemory) {}

  /**
   * Counts a seat from this interval on, for the rest of it and four more.
   * @returns false when only the ring's thread can do it now: the ring was given up, has no room for
   *   this seat yet, or its thread is late by more than two intervals
   */
  register(seat: number, interval: number): boolean {
    const { control, chunks } = this.memory;
    const chunk = chunkOf(seat);
    const cells = chunks[chunk];
    if (cells === undefined || seat >>> 0 !== seat) return false;
    if (interval !== this.#interval) this.#turnTo(interval);
    const at = ((seat - firstSeatOf(chunk)) >>> 5) * CELL_WORDS;
    for (let newest = control[NEWEST] as number; ; ) {
      const ahead = newest === CLOSED ? SLOTS : difference(this.#low, newest);
      if (ahead > AHEAD_INTERVALS) return false;
      // An interval that is over is taken for the newest.
      const slot = ahead >= 0 ? this.#slot : slotOf(this.#slot - 1 - ahead);
      register(control, cells, at, slot, 1 << (seat & 31));
      // After the atomic operations of the line before.
      const newer = control[NEWEST] as number;
      if (newer === newest) return true;
      newest = newer;
    }
  }

  #turnTo(interval: number): void {
    this.#interval = interval;
    this.#low = lowBits(interval);
    this.#slot = slotOf(interval);
  }
}
