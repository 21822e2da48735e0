import { type RateLimit, tooMany } from '../../platform/rate-limit.ts';
import type { SeatOfStream } from '../moderation/chat-rooms.ts';

/** L-14. */
const SEATS_KEPT_MAX = 100_000;
const PLACES_LEAST = 1_024;
/** What a place has: whose it is (0: nobody's), when the share ends, and what is left of it. */
const [END_MS, LEFT, WIDTH] = [1, 2, 3];
/** More than a stream has. */
const SEATS = 2 ** 25;
// Spread seats that follow each other, and streams.
const [SEAT_FACTOR, STREAM_FACTOR] = [0x9e3779b1, 0x85ebca6b];
/** To look through 100,000 shares takes milliseconds, and where all are taken some end at each moment. */
const FORGETS_A_DURATION = 10;

/**
 * A rate limit at work in this process for each seat of each stream, as `Rate` is for anybody. Each answer
 * of a hall begins a share: 0.1 µs in numbers side by side, where an object and its place in a map took
 * 1.2 µs with what it takes to forget it.
 */
export class SeatRate {
  private readonly durationMs: number;
  // Whose places are found by a hash, or the next that is free. The last place is that of all others.
  private places = new Float64Array((PLACES_LEAST + 1) * WIDTH);
  private used = 0;
  private readonly streams = new Map<string, number>();
  private nextStream = 0;
  private oldestEndMs = Number.POSITIVE_INFINITY;
  private nextForgetMs = Number.NEGATIVE_INFINITY;

  /** @param seatsMax so many seats have a share each; those that come beyond them have one together */
  constructor(
    private readonly what: string,
    private readonly limit: RateLimit,
    private readonly seatsMax = SEATS_KEPT_MAX,
  ) {
    this.durationMs = limit.durationS * 1_000;
  }

  /**
   * Uses one request of this seat's share.
   * @param nowMs of a clock that is never set back
   * @throws Problem 429 when it is used up
   */
  take(seat: SeatOfStream, nowMs: number): void {
    const key = this.keyOf(seat);
    let at = this.placeOf(key);
    if (this.places[at] !== key) at = this.newPlace(seat, at, nowMs);
    const { places } = this;
    const endMs = places[at + END_MS] as number;
    if (endMs <= nowMs) this.begin(at, nowMs);
    else if (places[at + LEFT] === 0) throw tooMany(this.what, endMs - nowMs);
    places[at + LEFT] = (places[at + LEFT] as number) - 1;
  }

  private begin(at: number, nowMs: number): void {
    const endMs = nowMs + this.durationMs;
    this.places[at + END_MS] = endMs;
    this.places[at + LEFT] = this.limit.points;
    if (endMs < this.oldestEndMs) this.oldestEndMs = endMs;
  }

  private keyOf({ streamId, seat }: SeatOfStream): number {
    let stream = this.streams.get(streamId);
    if (stream === undefined) {
      stream = this.nextStream++;
      this.streams.set(streamId, stream);
    }
    return stream * SEATS + seat + 1;
  }

  /** The place of a key, or the free one that it would have. */
  private placeOf(key: number): number {
    const { places } = this;
    const mask = this.capacity - 1;
    const hash = Math.imul(key % SEATS, SEAT_FACTOR) ^ Math.imul(key / SEATS, STREAM_FACTOR);
    // The high bits are those that depend on all.
    let place = (hash >>> 8) & mask;
    for (;;) {
      const found = places[place * WIDTH];
      if (found === key || found === 0) return place * WIDTH;
      place = (place + 1) & mask;
    }
  }

  private get capacity(): number {
    return this.places.length / WIDTH - 1;
  }

  /** Half of the places stay free, so that one is found soon. */
  private get usedMax(): number {
    return Math.min(this.capacity / 2, this.seatsMax);
  }

  /** @param free the place that it has when there is room */
  private newPlace(seat: SeatOfStream, free: number, nowMs: number): number {
    let at = free;
    if (this.used >= this.usedMax) {
      if (this.usedMax < this.seatsMax || this.mayForget(nowMs)) this.forget(nowMs);
      if (this.used >= this.usedMax) return this.capacity * WIDTH;
      at = this.placeOf(this.keyOf(seat));
    }
    this.places[at] = this.keyOf(seat);
    this.used++;
    return at;
  }

  private mayForget(nowMs: number): boolean {
    return this.oldestEndMs <= nowMs && this.nextForgetMs <= nowMs;
  }

  /** Keeps the shares that have not ended, and has room for as many more. */
  private forget(nowMs: number): void {
    const before = this.places;
    const othersAt = this.capacity * WIDTH;
    const kept: number[] = [];
    for (let at = 0; at < othersAt; at += WIDTH) {
      if ((before[at + END_MS] as number) > nowMs) kept.push(at);
    }
    let capacity = PLACES_LEAST;
    while (capacity / 2 < Math.min(kept.length * 2, this.seatsMax)) capacity *= 2;
    this.places = new Float64Array((capacity + 1) * WIDTH);
    this.places.set(before.subarray(othersAt), capacity * WIDTH);
    this.used = kept.length;
    this.oldestEndMs = Number.POSITIVE_INFINITY;
    this.nextForgetMs = nowMs + this.durationMs / FORGETS_A_DURATION;
    const streams = new Set<number>();
    for (const at of kept) {
      const key = before[at] as number;
      const to = this.placeOf(key);
      for (let one = 0; one < WIDTH; one++) this.places[to + one] = before[at + one] as number;
      this.oldestEndMs = Math.min(this.oldestEndMs, before[at + END_MS] as number);
      streams.add(Math.floor(key / SEATS));
    }
    for (const [id, stream] of this.streams) if (!streams.has(stream)) this.streams.delete(id);
  }
}
