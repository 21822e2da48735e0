import { LRUCache } from 'lru-cache';

/** What a request asks for: to be counted, for one interval, for an event stream. */
export type HotKind = 'heartbeat' | 'interval' | 'stream';

/** A head that was read strictly, and where in its bytes is what. */
export interface ShapeParts {
  readonly kind: HotKind;
  /** In the canonical form, in lower case. */
  readonly streamId: string;
  readonly bytes: Buffer;
  /** Where it begins. */
  readonly at: number;
  /** Of the interval; a heartbeat has none where its token begins. */
  readonly digitsAt: number;
  readonly digitsEnd: number;
  readonly tokenAt: number;
  readonly tokenEnd: number;
  readonly end: number;
  /** Of its header lines: see `HeaderLines`. */
  readonly print: number;
}

type Parts = readonly [start: Buffer, middle: Buffer, end: Buffer];

/** Where a request has what is its own. */
export interface Match {
  interval: number;
  tokenAt: number;
  tokenEnd: number;
}

/**
 * What requests of one client for one stream have in common: a head that was read strictly once, but for
 * its interval and its token. Bytes that have the same around these say the same, so they need not be
 * read: three comparisons, 0.05 µs in place of 0.2 to 0.6.
 */
export class RequestTemplate {
  readonly kind: HotKind;
  readonly streamId: string;
  readonly print: number;
  private readonly bytes: Buffer;
  private readonly at: number;
  private readonly digitsAt: number;
  private readonly digitsEnd: number;
  private readonly tokenAt: number;
  private readonly tokenEnd: number;
  private readonly end: number;
  /** Made when they are asked for: most heads are read and forgotten. */
  private parts: Parts | null = null;

  /** Copies nothing: as long as it is there, so are the bytes. */
  constructor(parts: ShapeParts) {
    this.kind = parts.kind;
    this.streamId = parts.streamId;
    this.print = parts.print;
    this.bytes = parts.bytes;
    this.at = parts.at;
    this.digitsAt = parts.digitsAt;
    this.digitsEnd = parts.digitsEnd;
    this.tokenAt = parts.tokenAt;
    this.tokenEnd = parts.tokenEnd;
    this.end = parts.end;
  }

  /**
   * Whether these bytes, up to their last, are one request of this shape, if what is between
   * `tokenAt` and `tokenEnd` is a token: whoever asks must know it as one.
   */
  matches(bytes: Buffer, at: number, found: Match): boolean {
    const [start, middle, end] = this.common;
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
    const [start, middle, end] = this.common;
    return Buffer.concat([start, Buffer.from(own), middle, Buffer.from(token), end]);
  }

  /** How many bytes of a head are the shape's. */
  get length(): number {
    const { at, end, digitsAt, digitsEnd, tokenAt, tokenEnd } = this;
    return end - at - (digitsEnd - digitsAt) - (tokenEnd - tokenAt);
  }

  /** What it keeps in memory, with all that came together with its head. */
  get memoryBytes(): number {
    return this.bytes.buffer.byteLength;
  }

  /** The same with bytes of its own, of which none are an interval's or a token's. */
  apart(): RequestTemplate {
    const { kind, streamId, print, common } = this;
    const [start, middle] = common;
    const bytes = Buffer.concat(common);
    const digitsAt = start.length;
    const tokenAt = digitsAt + middle.length;
    const places = { at: 0, digitsAt, digitsEnd: digitsAt, tokenAt, tokenEnd: tokenAt };
    return new RequestTemplate({ kind, streamId, print, bytes, ...places, end: bytes.length });
  }

  /** Whether requests of the one are of the other. */
  equals(other: RequestTemplate): boolean {
    return this.common.every((part, index) => part.equals(other.common[index] as Buffer));
  }

  /** Up to the interval; from there to the token; from there to the end. */
  private get common(): Parts {
    if (this.parts === null) {
      const { bytes, at, digitsAt, digitsEnd, tokenAt, tokenEnd, end } = this;
      const part = (from: number, to: number) => bytes.subarray(from, to);
      this.parts = [part(at, digitsAt), part(digitsEnd, tokenAt), part(tokenEnd, end)];
    }
    return this.parts;
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

/**
 * What a connection remembers of its last head: its shape once two in a row were alike, else its print.
 * Behind a proxy, which sends requests of many viewers by one connection, or adds a number of its own to
 * each, no two are alike, and to share a shape of each cost more than reading it: a browser's heartbeat
 * with `X-Forwarded-For` took 17 to 21 µs of processor, and takes 8.4 to 9.2; without it 6.7. Through
 * nginx, which had the same core, it was 26, and is 13.
 */
export type LastHead = RequestTemplate | number;

/** Of a connection that has had none. */
export const NO_HEAD: LastHead = 0;

/** The shapes that clients have lately, each once. */
export class TemplateCache {
  private readonly known = new LRUCache<string, RequestTemplate>({ max: SHAPES_MAX });

  /** What is remembered after a head that was not of the last one's shape. */
  after(last: LastHead, shape: RequestTemplate): LastHead {
    const { print } = shape;
    const isAlike = (typeof last === 'number' ? last : last.print) === print;
    return isAlike && shape.length <= SHAPE_BYTES_MAX ? this.shared(shape) : print;
  }

  /** The one that all share who send such requests. */
  private shared(shape: RequestTemplate): RequestTemplate {
    const key = `${shape.kind} ${shape.streamId} ${shape.print}`;
    const known = this.known.get(key);
    if (known?.equals(shape)) return known;
    const kept = shape.apart();
    this.known.set(key, kept);
    return kept;
  }
}
