import type { TokenSeat } from './checked-viewer.ts';
import type { TokenPrefix } from './token-prefixes.ts';

export const PAGE_BITS = 10;
/** Number of tokens in a page. */
export const SLOTS_PER_PAGE = 1 << PAGE_BITS;
/**
 * Size of a token's tail: the signature and the claims that differ between viewers (`iat`, `exp`, `seat`
 * and `sub`), which tokens have last for this purpose. The prefix before it is shared.
 */
export const TAIL_BYTES = 192;
/** Marks the end of a bucket's list, and a full page. */
export const NO_SLOT = -1;

/** A page of tokens in typed arrays, which the garbage collector does not scan. */
export class TokenPage {
  /** For each slot, the next slot in its bucket's list. Maintained by `TokenCache`. */
  readonly next = new Int32Array(SLOTS_PER_PAGE);
  readonly tails = Buffer.alloc(SLOTS_PER_PAGE * TAIL_BYTES);
  private readonly lengths = new Uint16Array(SLOTS_PER_PAGE);
  private readonly seats = new Uint32Array(SLOTS_PER_PAGE);
  private readonly expiresMs = new Float64Array(SLOTS_PER_PAGE);
  private readonly used = new Uint8Array(SLOTS_PER_PAGE);
  /** null in a free slot. */
  private readonly prefixes = new Array<TokenPrefix | null>(SLOTS_PER_PAGE).fill(null);
  private count = 0;

  /** Number of tokens in the page. */
  get size(): number {
    return this.count;
  }

  /** A free slot; NO_SLOT when the page is full. */
  freeSlot(): number {
    return this.count === SLOTS_PER_PAGE ? NO_SLOT : this.prefixes.indexOf(null);
  }

  /** Stores a token in a free slot: its tail, its prefix and its seat. */
  put(at: number, tail: Buffer, prefix: TokenPrefix, { seat, expiresMs }: TokenSeat): void {
    tail.copy(this.tails, at * TAIL_BYTES);
    this.lengths[at] = tail.length;
    this.seats[at] = seat;
    this.expiresMs[at] = expiresMs;
    this.used[at] = 0;
    this.prefixes[at] = prefix;
    this.count++;
  }

  /** Frees a slot. @returns the prefix of its token */
  release(at: number): TokenPrefix {
    const prefix = this.prefixes[at] as TokenPrefix;
    this.prefixes[at] = null;
    this.count--;
    return prefix;
  }

  /** Whether the slot has a token. */
  isOccupied(at: number): boolean {
    return this.prefixes[at] !== null;
  }

  /** The end of the slot's token in `tails`, exclusive. */
  endOf(at: number): number {
    return at * TAIL_BYTES + (this.lengths[at] as number);
  }

  /** Whether the slot's token equals these bytes. A match marks the token as used. */
  matches(at: number, bytes: Buffer, from: number, to: number): boolean {
    const prefix = (this.prefixes[at] as TokenPrefix).bytes;
    const length = this.lengths[at] as number;
    const tailAt = to - length;
    if (tailAt - from !== prefix.length) return false;
    const begin = at * TAIL_BYTES;
    if (this.tails.compare(bytes, tailAt, to, begin, begin + length) !== 0) return false;
    if (prefix.compare(bytes, from, tailAt) !== 0) return false;
    this.used[at] = 1;
    return true;
  }

  /** Whether the token was used since the last call. */
  testAndClearUsed(at: number): boolean {
    const used = this.used[at] === 1;
    this.used[at] = 0;
    return used;
  }

  isExpired(at: number, nowMs: number): boolean {
    return (this.expiresMs[at] as number) <= nowMs;
  }

  seatAt(at: number): TokenSeat {
    return {
      streamId: (this.prefixes[at] as TokenPrefix).streamId,
      seat: this.seats[at] as number,
      expiresMs: this.expiresMs[at] as number,
    };
  }
}
