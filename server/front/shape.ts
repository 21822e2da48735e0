import { LRUCache } from 'lru-cache';

/** What a request asks for: to be counted, for one interval, for an event stream. */
export type HotKind = 'heartbeat' | 'interval' | 'stream';

export interface ShapeParts {
  readonly kind: HotKind;
  /** In the canonical form, in lower case. */
  readonly streamId: string;
  /** Up to the interval; of a heartbeat, up to the token. */
  readonly start: string;
  /** From the interval to the token; of a heartbeat nothing. */
  readonly middle: string;
  /** From the token to the end of the head. */
  readonly end: string;
}

/** Where a request has what is its own. */
export interface Match {
  interval: number;
  tokenAt: number;
  tokenEnd: number;
}

/**
 * What requests of one kind of client for one stream have in common: a head that was read strictly
 * once, but for its interval and its token. Bytes that have the same around these say the same, so
 * they need not be read: three comparisons in place of 3 µs.
 */
export class Shape {
  readonly kind: HotKind;
  readonly streamId: string;
  private readonly start: Buffer;
  private readonly middle: Buffer;
  private readonly end: Buffer;

  constructor({ kind, streamId, start, middle, end }: ShapeParts) {
    this.kind = kind;
    this.streamId = streamId;
    this.start = Buffer.from(start, 'latin1');
    this.middle = Buffer.from(middle, 'latin1');
    this.end = Buffer.from(end, 'latin1');
  }

  /**
   * Whether these bytes, up to their last, are one request of this shape, if what is between
   * `tokenAt` and `tokenEnd` is a token: whoever asks must know it as one.
   */
  matches(bytes: Buffer, at: number, found: Match): boolean {
    const { start, middle, end } = this;
    let next = at + start.length;
    const tokenEnd = bytes.length - end.length;
    if (next + middle.length >= tokenEnd || tokenEnd - next > OWN_BYTES_MAX) return false;
    if (start.compare(bytes, at, next) !== 0 || end.compare(bytes, tokenEnd) !== 0) return false;
    if (this.kind !== 'heartbeat') {
      const digitsAt = next;
      let interval = 0;
      for (let digit = digitAt(bytes, next); digit >= 0; digit = digitAt(bytes, ++next)) {
        interval = interval * 10 + digit;
      }
      if (!isCanonical(bytes, digitsAt, next) || next + middle.length >= tokenEnd) return false;
      if (middle.compare(bytes, next, next + middle.length) !== 0) return false;
      found.interval = interval;
    }
    found.tokenAt = next + middle.length;
    found.tokenEnd = tokenEnd;
    return true;
  }

  /** The bytes of a request of this shape. */
  requestOf(interval: number, token: string): Buffer {
    const own = this.kind === 'heartbeat' ? '' : `${interval}`;
    const { start, middle, end } = this;
    return Buffer.concat([start, Buffer.from(own), middle, Buffer.from(token), end]);
  }

  /** How many bytes of a head are the shape's. */
  get length(): number {
    return this.start.length + this.middle.length + this.end.length;
  }

  /** Equal of shapes that are. */
  get key(): string {
    return [this.start, this.middle, this.end].map((part) => part.toString('latin1')).join('\0');
  }
}

// A token of ours is about 420 characters: more than this is not worth a comparison.
const OWN_BYTES_MAX = 8 * 1024;

const digitAt = (bytes: Buffer, at: number): number => {
  const digit = (bytes[at] as number) - 48;
  return digit >= 0 && digit <= 9 ? digit : -1;
};

const DIGITS_MAX = 16;

function isCanonical(bytes: Buffer, from: number, to: number): boolean {
  const digits = to - from;
  return digits === 1 || (digits > 1 && digits <= DIGITS_MAX && bytes[from] !== 48);
}

// At most 8 MB: browsers with cookies have one each, all others share some.
const SHAPES_MAX = 2_000;
const SHAPE_BYTES_MAX = 2_048;

/** The shapes that clients have lately, each once. */
export class Shapes {
  private readonly known = new LRUCache<string, Shape>({ max: SHAPES_MAX });

  /** The one that all share who send such requests; null for what is too long to be kept. */
  shared(shape: Shape): Shape | null {
    if (shape.length > SHAPE_BYTES_MAX) return null;
    const { key } = shape;
    const known = this.known.get(key);
    if (known) return known;
    this.known.set(key, shape);
    return shape;
  }
}
