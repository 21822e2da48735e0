import type { TokenSeat } from './checked-viewer.ts';
import type { TokenPrefix } from './token-beginnings.ts';

export const PAGE_BITS = 10;
/** Tokens in a page. */
export const SLOTS_PER_PAGE = 1 << PAGE_BITS;
/**
 * The signature and what differs between viewers: `iat`, `exp`, `seat` and `sub`, which tokens have
 * last for this. What is before is a beginning that others have, too.
 */
export const TAIL_BYTES = 192;
/** Follows the last place of a list. */
export const NO_SLOT = -1;

/** A thousand tokens side by side, with nothing of their own that a collector of garbage sees. */
export class TokenPage {
  /** The places that follow in their lists; whoever keeps the lists says what they mean. */
  readonly next = new Int32Array(SLOTS_PER_PAGE);
  readonly tails = Buffer.alloc(SLOTS_PER_PAGE * TAIL_BYTES);
  private readonly lengths = new Uint16Array(SLOTS_PER_PAGE);
  private readonly seats = new Uint32Array(SLOTS_PER_PAGE);
  private readonly expiresMs = new Float64Array(SLOTS_PER_PAGE);
  private readonly used = new Uint8Array(SLOTS_PER_PAGE);
  /** null where there is no token. */
  private readonly prefixes = new Array<TokenPrefix | null>(SLOTS_PER_PAGE).fill(null);
  private count = 0;

  /** How many tokens it has. */
  get size(): number {
    return this.count;
  }

  /** A place without a token; NONE when it is full. */
  freeSlot(): number {
    return this.count === SLOTS_PER_PAGE ? NO_SLOT : this.prefixes.indexOf(null);
  }

  /** Puts a token in a free place: what is behind its beginning, and whose it is. */
  put(at: number, tail: Buffer, beginning: TokenPrefix, { seat, expiresMs }: TokenSeat): void {
    tail.copy(this.tails, at * TAIL_BYTES);
    this.lengths[at] = tail.length;
    this.seats[at] = seat;
    this.expiresMs[at] = expiresMs;
    this.used[at] = 0;
    this.prefixes[at] = beginning;
    this.count++;
  }

  /** Frees a place. @returns the beginning of its token */
  release(at: number): TokenPrefix {
    const beginning = this.prefixes[at] as TokenPrefix;
    this.prefixes[at] = null;
    this.count--;
    return beginning;
  }

  /** Whether there is a token. */
  isOccupied(at: number): boolean {
    return this.prefixes[at] !== null;
  }

  /** Where its last byte is in `tails`, and one more. */
  endOf(at: number): number {
    return at * TAIL_BYTES + (this.lengths[at] as number);
  }

  /** Whether the token there is these bytes, each of them. It is used then. */
  matches(at: number, bytes: Buffer, from: number, to: number): boolean {
    const beginning = (this.prefixes[at] as TokenPrefix).bytes;
    const length = this.lengths[at] as number;
    const tailAt = to - length;
    if (tailAt - from !== beginning.length) return false;
    const begin = at * TAIL_BYTES;
    if (this.tails.compare(bytes, tailAt, to, begin, begin + length) !== 0) return false;
    if (beginning.compare(bytes, from, tailAt) !== 0) return false;
    this.used[at] = 1;
    return true;
  }

  /** Whether the token there was used since it was asked before. */
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
