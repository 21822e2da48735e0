import { LRUCache } from 'lru-cache';
import { PRODUCER_EVENT_BYTES } from '../../protocol/limits.ts';
import { atMostEntries } from '../platform/cache-size.ts';
import { RateLimited } from '../platform/errors.ts';
import type { RateLimit } from '../platform/rate-limiter.ts';
import { runtime } from '../platform/runtime.ts';
import { memberUuid, type StudioCaller } from './credentials.ts';

/**
 * Most bytes of the writes of an account at once; a member has half of this, and half of the rate. A member may import
 * 16 files of the largest size one after the other, responses included.
 */
export const WRITE_BURST_BYTES = 64 << 20;
/**
 * Bytes that an account gets back for each request of `--rate-studio`: at 1,200 a minute 6 MB a minute. An event with
 * the longest data has less, its response included: events at the highest rate never reach the limit.
 */
export const WRITE_BYTES_PER_REQUEST = PRODUCER_EVENT_BYTES + 1024;
/**
 * What a quiz counts at least that is imported, or copied for a rehearsal. PostgreSQL numbers the quizzes of all
 * accounts, up to 2^31. An account takes 25 numbers a second; without the minimum it took 256, and thousands with
 * rehearsals.
 */
export const QUIZ_BYTES_MIN = 4 << 10;

// About 15 MB. Only the operator creates accounts, and an account has at most 100 members.
const KEYS_MAX = 100_000;

/**
 * Limits the bytes of the studio writes of each account, and of each member to half of them (SPEC L-22): the number
 * of requests alone allowed imports of 33 GB an hour.
 */
export class WriteBytes {
  private readonly ofAccount: ByteBuckets;
  private readonly ofMember: ByteBuckets;

  constructor({ points, durationS }: RateLimit) {
    const bytesPerMs = (points * WRITE_BYTES_PER_REQUEST) / (durationS * 1_000);
    this.ofAccount = new ByteBuckets(WRITE_BURST_BYTES, bytesPerMs);
    this.ofMember = new ByteBuckets(WRITE_BURST_BYTES / 2, bytesPerMs / 2);
  }

  /**
   * Counts a request before its work.
   * @throws RateLimited when the limit is reached; then nothing is counted
   */
  take(caller: StudioCaller, bytes: number, nowMs = runtime.monotonicMs()): void {
    const waits = this.bucketsOf(caller).map(([buckets, key]) => buckets.waitMs(key, bytes, nowMs));
    const seconds = Math.ceil(Math.max(...waits) / 1_000);
    if (seconds > 0) {
      throw new RateLimited(
        `Too much data in the writes of this account; send less, or try again in ${seconds} s.`,
        seconds,
      );
    }
    this.add(caller, bytes, nowMs);
  }

  /** Counts bytes that are known only after the work, also beyond the limit: later requests wait for them. */
  add(caller: StudioCaller, bytes: number, nowMs = runtime.monotonicMs()): void {
    for (const [buckets, key] of this.bucketsOf(caller)) buckets.take(key, bytes, nowMs);
  }

  private bucketsOf({ user, actor }: StudioCaller): [ByteBuckets, string][] {
    const member = memberUuid(actor);
    const ofAccount: [ByteBuckets, string] = [this.ofAccount, user.uuid];
    return member === null ? [ofAccount] : [ofAccount, [this.ofMember, member]];
  }
}

/** What one write counts: its body and its response, or what it creates if that is more. */
export class WriteCount {
  private counted = 0;

  constructor(
    private readonly writes: WriteBytes,
    private readonly caller: StudioCaller,
  ) {}

  /**
   * Counts at least this number of bytes for the write, before its work. A refusal also gives back what was counted
   * before: a repeated write counts it again, and could otherwise be refused forever.
   * @throws RateLimited when the limit is reached; then nothing of the write is counted
   */
  take(bytes: number, nowMs = runtime.monotonicMs()): void {
    if (bytes > this.counted) this.recount(bytes, nowMs);
  }

  private recount(bytes: number, nowMs: number): void {
    this.writes.add(this.caller, -this.counted, nowMs);
    this.counted = 0;
    this.writes.take(this.caller, bytes, nowMs);
    this.counted = bytes;
  }

  /**
   * Call it when a write that waited begins: writes before it may have counted beyond the limit meanwhile.
   * @throws RateLimited while what was counted exceeds the limit; then nothing of the write is counted
   */
  check(nowMs = runtime.monotonicMs()): void {
    this.recount(this.counted, nowMs);
  }

  /** Counts at least this number of bytes for the write, after its work, also beyond the limit. */
  add(bytes: number, nowMs = runtime.monotonicMs()): void {
    this.writes.add(this.caller, Math.max(bytes - this.counted, 0), nowMs);
  }
}

/** Token buckets of bytes, by key. */
class ByteBuckets {
  /** When the bucket of a key is full again. One without an entry is full. */
  private readonly fullAtMs = new LRUCache<string, number>(atMostEntries(KEYS_MAX));

  constructor(
    private readonly capacity: number,
    private readonly bytesPerMs: number,
  ) {}

  /** @returns the time until the bucket has these bytes, ms; zero or negative: it has them now */
  waitMs(key: string, bytes: number, nowMs: number): number {
    const missing = (this.fullAtMs.get(key) ?? nowMs) - nowMs;
    return Math.max(missing, 0) - (this.capacity - bytes) / this.bytesPerMs;
  }

  take(key: string, bytes: number, nowMs: number): void {
    const fullAtMs = Math.max(this.fullAtMs.get(key) ?? nowMs, nowMs);
    this.fullAtMs.set(key, fullAtMs + bytes / this.bytesPerMs);
  }
}
