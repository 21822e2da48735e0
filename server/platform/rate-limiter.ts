import { RateLimited } from './errors.ts';
import { Fifo } from './fifo.ts';
import { runtime } from './runtime.ts';

/** At most `points` requests of one key in `durationS` seconds (SPEC L). */
export interface RateLimit {
  readonly points: number;
  readonly durationS: number;
}

/** Fixed windows of one rate limit, by key. A window starts with the first request of its key. */
export interface RateWindows<Key> {
  /**
   * Counts one request.
   * @param nowMs of a clock that never goes back
   * @returns 0, or the ms until the window ends when the limit is reached; then nothing is counted
   */
  take(key: Key, nowMs: number): number;
}

/**
 * A rate limit of this process. Own code, because it takes 0.1 µs a request; rate-limiter-flexible
 * takes 1 µs, with a promise and a timer for each key.
 */
export class RateLimiter<Key = string> {
  /** @param name names the counted requests in the plural, for the error message */
  constructor(
    private readonly name: string,
    private readonly windows: RateWindows<Key>,
  ) {}

  /**
   * Counts one request of this key.
   * @param nowMs of a clock that never goes back, the same in every call of one limiter
   * @throws RateLimited when the limit is reached
   */
  take(key: Key, nowMs = runtime.monotonicMs()): void {
    const waitMs = this.windows.take(key, nowMs);
    if (waitMs === 0) return;
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    throw new RateLimited(`Too many ${this.name}; try again in ${seconds} s.`, seconds);
  }

  /** Like `take`, but returns false where that throws. */
  tryTake(key: Key, nowMs = runtime.monotonicMs()): boolean {
    return this.windows.take(key, nowMs) === 0;
  }
}

interface KeyWindow {
  remaining: number;
  readonly endMs: number;
  /** The network to which its key counts; null: none. */
  readonly network: string | null;
}

export interface KeyWindowsOptions {
  /** Keys with a window of their own; further keys share 1,024 windows. */
  readonly keysMax?: number;
  /** Keys of one network with a window of their own. */
  readonly networkKeysMax?: number;
  /** The network of a key; null: none. By default no key has one. */
  readonly networkOf?: (key: string) => string | null;
}

/** Clients or accounts that each limit counts one by one, the others in 1,024 groups (SPEC L-14): about 15 MB. */
export const KEYS_MAX = 100_000;
/** Of these, those of an IPv6 /48 or an IPv4 /16, which have 65,536: only 100 such networks fill them. */
export const NETWORK_KEYS_MAX = 1_000;
/** Whoever fills all windows slows down the few others that share one, not everybody. */
const SHARED_WINDOWS = 1_024;
// Secret, so that nobody chooses keys that share a window with those of somebody else.
const SEED = BigInt(`0x${runtime.randomBytes(8).toString('hex')}`);

function sharedIndex(key: string): number {
  return Number(Bun.hash.wyhash(key, SEED) % BigInt(SHARED_WINDOWS));
}

/** Windows by string key, such as a client address or an account. */
export class KeyWindows implements RateWindows<string> {
  private readonly durationMs: number;
  private readonly windows = new Map<string, KeyWindow>();
  /**
   * The keys of the windows in the order of their ends, since all are equally long. Without it, each end
   * searched the removed entries of the map: 7 µs a request while windows end all the time, not 0.4 µs.
   */
  private readonly order = new Fifo<string>();
  /** Shared by the keys beyond `keysMax`, by their hash. */
  private readonly shared = new Map<number, KeyWindow>();
  /** The number of windows of the keys of each network. */
  private readonly networks = new Map<string, number>();
  private readonly options: Required<KeyWindowsOptions>;
  private oldestEndMs = Number.POSITIVE_INFINITY;

  constructor(
    private readonly limit: RateLimit,
    { keysMax = KEYS_MAX, networkKeysMax = NETWORK_KEYS_MAX, ...rest }: KeyWindowsOptions = {},
  ) {
    this.durationMs = limit.durationS * 1_000;
    this.options = { keysMax, networkKeysMax, networkOf: rest.networkOf ?? (() => null) };
  }

  take(key: string, nowMs: number): number {
    const window = this.windowOf(key, nowMs);
    if (window.remaining === 0) return window.endMs - nowMs;
    window.remaining--;
    return 0;
  }

  /** What `take` would return. Counts nothing. */
  peek(key: string, nowMs: number): number {
    const { remaining, endMs } = this.windowOf(key, nowMs);
    return remaining === 0 ? endMs - nowMs : 0;
  }

  private windowOf(key: string, nowMs: number): KeyWindow {
    if (nowMs >= this.oldestEndMs) this.removeEnded(nowMs);
    return this.windows.get(key) ?? this.open(key, nowMs);
  }

  private open(key: string, nowMs: number): KeyWindow {
    const { keysMax, networkKeysMax, networkOf } = this.options;
    const network = networkOf(key);
    const window = { remaining: this.limit.points, endMs: nowMs + this.durationMs, network };
    const ofNetwork = network === null ? 0 : (this.networks.get(network) ?? 0);
    if (this.windows.size >= keysMax || ofNetwork >= networkKeysMax) {
      return this.openShared(key, window, nowMs);
    }
    if (network !== null) this.networks.set(network, ofNetwork + 1);
    this.windows.set(key, window);
    this.order.push(key);
    this.oldestEndMs = Math.min(this.oldestEndMs, window.endMs);
    return window;
  }

  private openShared(key: string, window: KeyWindow, nowMs: number): KeyWindow {
    const index = sharedIndex(key);
    const current = this.shared.get(index);
    if (current && current.endMs > nowMs) return current;
    this.shared.set(index, window);
    return window;
  }

  private removeEnded(nowMs: number): void {
    let window = this.oldest();
    while (window && window.endMs <= nowMs) {
      this.windows.delete(this.order.shift() as string);
      if (window.network !== null) this.leaveNetwork(window.network);
      window = this.oldest();
    }
    this.oldestEndMs = window?.endMs ?? Number.POSITIVE_INFINITY;
  }

  private oldest(): KeyWindow | undefined {
    const key = this.order.first();
    return key === undefined ? undefined : this.windows.get(key);
  }

  private leaveNetwork(network: string): void {
    const left = (this.networks.get(network) ?? 1) - 1;
    if (left === 0) this.networks.delete(network);
    else this.networks.set(network, left);
  }
}

/** A viewer's seat of one stream. */
export interface StreamSeat {
  readonly streamId: string;
  readonly seat: number;
}

/**
 * Viewers whose answers are counted one by one: all of a large show who answer in one window (SPEC L-14). They take
 * 50 MB. With 100,000, 19,280 valid answers of 150,000 viewers got a 429.
 */
export const SEATS_MAX = 1_000_000;
/** A table of up to this many slots (6 MB) stays. A larger one is checked once a minute, and shrinks if sparse. */
const SLOTS_KEPT = 2 ** 18;
const SHRINK_PERIOD_MS = 60_000;
const SHRINK_SAMPLE = 1_024;
const SLOTS_MIN = 1_024;
// A slot is three numbers: the key (0: free), the end of the window and the remaining requests.
const [END_OFFSET, REMAINING_OFFSET, SLOT_LENGTH] = [1, 2, 3];
/** More seats than a stream has. */
const SEATS_PER_STREAM = 2 ** 25;
// Multipliers of the hash: they spread consecutive seats and streams.
const [SEAT_FACTOR, STREAM_FACTOR] = [0x9e3779b1, 0x85ebca6b];
/** In a full table windows end all the time, and a sweep of all takes over 100 ms. */
const SWEEPS_PER_WINDOW = 10;

function hashOf(key: number): number {
  const seatHash = Math.imul(key % SEATS_PER_STREAM, SEAT_FACTOR);
  const hash = seatHash ^ Math.imul(key / SEATS_PER_STREAM, STREAM_FACTOR);
  // The high bits are those that depend on all bits of the key.
  return hash >>> 8;
}

/**
 * Windows by seat, in one open-addressing hash table of numbers. When a question opens, every viewer
 * of a show starts a window: 0.1 µs each here; in a map of objects 1.2 µs, removal included.
 */
export class SeatWindows implements RateWindows<StreamSeat> {
  private readonly durationMs: number;
  // Linear probing. The last slots are the windows that seats beyond `seatsMax` share.
  private slots = new Float64Array((SLOTS_MIN + SHARED_WINDOWS) * SLOT_LENGTH);
  private used = 0;
  private readonly streams = new Map<string, number>();
  private nextStream = 0;
  private oldestEndMs = Number.POSITIVE_INFINITY;
  private nextSweepMs = Number.NEGATIVE_INFINITY;
  private nextShrinkMs = Number.NEGATIVE_INFINITY;

  /** @param seatsMax seats with a window of their own; further seats share 1,024 windows */
  constructor(
    private readonly limit: RateLimit,
    private readonly seatsMax = SEATS_MAX,
  ) {
    this.durationMs = limit.durationS * 1_000;
  }

  take(seat: StreamSeat, nowMs: number): number {
    const key = this.keyOf(seat);
    let at = this.find(key);
    if (this.slots[at] !== key) at = this.add(seat, at, nowMs);
    const { slots } = this;
    const endMs = slots[at + END_OFFSET] as number;
    if (endMs <= nowMs) this.open(at, nowMs);
    else if (slots[at + REMAINING_OFFSET] === 0) return endMs - nowMs;
    slots[at + REMAINING_OFFSET] = (slots[at + REMAINING_OFFSET] as number) - 1;
    return 0;
  }

  private open(at: number, nowMs: number): void {
    const endMs = nowMs + this.durationMs;
    this.slots[at + END_OFFSET] = endMs;
    this.slots[at + REMAINING_OFFSET] = this.limit.points;
    if (endMs < this.oldestEndMs) this.oldestEndMs = endMs;
  }

  private keyOf({ streamId, seat }: StreamSeat): number {
    let stream = this.streams.get(streamId);
    if (stream === undefined) {
      stream = this.nextStream++;
      this.streams.set(streamId, stream);
    }
    return stream * SEATS_PER_STREAM + seat + 1;
  }

  /** Index of the slot of a key, or of the free slot where it belongs. */
  private find(key: number): number {
    const { slots } = this;
    const mask = this.capacity - 1;
    let slot = hashOf(key) & mask;
    for (;;) {
      const slotKey = slots[slot * SLOT_LENGTH];
      if (slotKey === key || slotKey === 0) return slot * SLOT_LENGTH;
      slot = (slot + 1) & mask;
    }
  }

  private get capacity(): number {
    return this.slots.length / SLOT_LENGTH - SHARED_WINDOWS;
  }

  /** Half of the slots stay free, so that probes are short. */
  private get usedMax(): number {
    return Math.min(this.capacity / 2, this.seatsMax);
  }

  /**
   * @param free index of the free slot where the seat belongs
   * @returns the index of its slot, or that of a shared window when the table is full
   */
  private add(seat: StreamSeat, free: number, nowMs: number): number {
    let at = free;
    if (this.capacity > SLOTS_KEPT && nowMs >= this.nextShrinkMs) {
      this.nextShrinkMs = nowMs + SHRINK_PERIOD_MS;
      if (this.isSparse(nowMs)) this.sweep(nowMs);
      at = this.find(this.keyOf(seat));
    }
    if (this.used >= this.usedMax) {
      if (this.usedMax < this.seatsMax || this.isSweepDue(nowMs)) this.sweep(nowMs);
      if (this.used >= this.usedMax) {
        return (this.capacity + (hashOf(this.keyOf(seat)) % SHARED_WINDOWS)) * SLOT_LENGTH;
      }
      at = this.find(this.keyOf(seat));
    }
    this.slots[at] = this.keyOf(seat);
    this.used++;
    return at;
  }

  /** Whether the table can shrink: in a sample, less than an eighth of the slots have a window that still runs. */
  private isSparse(nowMs: number): boolean {
    const step = (this.capacity / SHRINK_SAMPLE) * SLOT_LENGTH;
    let live = 0;
    for (let n = 0; n < SHRINK_SAMPLE; n++) {
      if ((this.slots[n * step + END_OFFSET] as number) > nowMs) live++;
    }
    return live < SHRINK_SAMPLE / 8;
  }

  private isSweepDue(nowMs: number): boolean {
    return this.oldestEndMs <= nowMs && this.nextSweepMs <= nowMs;
  }

  /** Drops the windows that have ended, and resizes the table to hold twice the others. */
  private sweep(nowMs: number): void {
    const before = this.slots;
    const overflowAt = this.capacity * SLOT_LENGTH;
    const live: number[] = [];
    for (let at = 0; at < overflowAt; at += SLOT_LENGTH) {
      if ((before[at + END_OFFSET] as number) > nowMs) live.push(at);
    }
    let capacity = SLOTS_MIN;
    while (capacity / 2 < Math.min(live.length * 2, this.seatsMax)) capacity *= 2;
    this.slots = new Float64Array((capacity + SHARED_WINDOWS) * SLOT_LENGTH);
    this.slots.set(before.subarray(overflowAt), capacity * SLOT_LENGTH);
    this.used = live.length;
    this.oldestEndMs = Number.POSITIVE_INFINITY;
    this.nextSweepMs = nowMs + this.durationMs / SWEEPS_PER_WINDOW;
    const streams = new Set<number>();
    for (const at of live) {
      const key = before[at] as number;
      const to = this.find(key);
      for (let field = 0; field < SLOT_LENGTH; field++) {
        this.slots[to + field] = before[at + field] as number;
      }
      this.oldestEndMs = Math.min(this.oldestEndMs, before[at + END_OFFSET] as number);
      streams.add(Math.floor(key / SEATS_PER_STREAM));
    }
    for (const [id, stream] of this.streams) if (!streams.has(stream)) this.streams.delete(id);
  }
}
