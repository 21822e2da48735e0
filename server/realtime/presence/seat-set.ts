import { popcount } from './presence-ring.ts';

const SEATS_PER_WORD = 32;
const FIRST_WORDS = 8;

/** A growing set of seats of a stream, as a bitset with its size. */
export class SeatSet {
  #words = new Uint32Array(FIRST_WORDS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(seat: number): void {
    const word = seat >>> 5;
    if (word >= this.#words.length) this.#grow(word + 1);
    this.#unite(word, 1 << (seat & 31));
  }

  /**
   * Adds the seats of a bitset.
   * @param firstSeat the seat of its first bit; a multiple of 32
   * @param bytes in the bit order of `SeatBlock`
   */
  addBits(firstSeat: number, bytes: Uint8Array): void {
    const first = firstSeat / SEATS_PER_WORD;
    const words = wordsOf(bytes);
    if (first + words.length > this.#words.length) this.#grow(first + words.length);
    for (let at = 0; at < words.length; at += 1) {
      const bits = words[at] as number;
      if (bits !== 0) this.#unite(first + at, bits);
    }
  }

  #unite(word: number, bits: number): void {
    const previous = this.#words[word] as number;
    const gained = bits & ~previous;
    if (gained === 0) return;
    this.#words[word] = previous | bits;
    this.#size += popcount(gained);
  }

  #grow(words: number): void {
    let length = this.#words.length;
    while (length < words) length *= 2;
    const grown = new Uint32Array(length);
    grown.set(this.#words);
    this.#words = grown;
  }
}

/** Copies the bits to words: received bytes may be unaligned, and of any length. */
function wordsOf(bytes: Uint8Array): Uint32Array {
  const words = new Uint32Array(Math.ceil(bytes.length / 4));
  new Uint8Array(words.buffer).set(bytes);
  return words;
}
