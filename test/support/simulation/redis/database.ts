import { wrongType } from './redis-error.ts';
import { SortedSet } from './sorted-set.ts';
import { Stream } from './stream.ts';

export type Hash = Map<string, string>;

/** A value of a key. Strings are bytes: latin1 text, or an array once bits were set in them. */
export type StoredValue = string | Uint8Array | Hash | SortedSet | Stream;

interface StoredKey {
  value: StoredValue;
  /** Unix ms of the server; Infinity without a time to live. */
  expiresMs: number;
}

/** Expired keys that nobody reads are deleted after this many new expiration times. */
const SWEEP_EVERY = 512;

/** The keys of a server. The clock stands still during a command. */
export class Database {
  /** Unix ms, whole, set before each command. */
  nowMs = 0;
  /**
   * Called with the key when a key has expired and is deleted; null in a replica, where keys stay until
   * the primary deletes them.
   */
  onExpired: ((key: string) => void) | null = null;
  /** Number of changes so far. */
  changes = 0;
  /** The command that replicas execute instead of the current one, since times must be absolute there. */
  effect: readonly string[] | null = null;
  /** Streams with new entries since it was cleared. */
  readonly appendedStreams = new Set<string>();
  private readonly keys = new Map<string, StoredKey>();
  private expirations = 0;

  string(key: string): string | Uint8Array | undefined {
    const value = this.find(key)?.value;
    if (value === undefined || typeof value === 'string' || value instanceof Uint8Array)
      return value;
    throw wrongType();
  }

  hash(key: string): Hash | undefined {
    const value = this.find(key)?.value;
    if (value === undefined || value instanceof Map) return value;
    throw wrongType();
  }

  sortedSet(key: string): SortedSet | undefined {
    const value = this.find(key)?.value;
    if (value === undefined || value instanceof SortedSet) return value;
    throw wrongType();
  }

  stream(key: string): Stream | undefined {
    const value = this.find(key)?.value;
    if (value === undefined || value instanceof Stream) return value;
    throw wrongType();
  }

  has(key: string): boolean {
    return this.find(key) !== undefined;
  }

  /** Stores a value under a key that is new, or drops what the key had with its time to live. */
  set(key: string, value: StoredValue, expiresMs = Number.POSITIVE_INFINITY): void {
    this.keys.set(key, { value, expiresMs });
    this.changes += 1;
    if (expiresMs !== Number.POSITIVE_INFINITY) this.countExpiration();
  }

  /** Stores another value and keeps the time to live. */
  replace(key: string, value: StoredValue): void {
    const stored = this.keys.get(key);
    if (stored) stored.value = value;
    else this.set(key, value);
  }

  delete(key: string): boolean {
    if (!this.find(key)) return false;
    this.keys.delete(key);
    this.changes += 1;
    return true;
  }

  /** @returns false when there is no such key */
  expireAt(key: string, expiresMs: number): boolean {
    const stored = this.find(key);
    if (!stored) return false;
    stored.expiresMs = expiresMs;
    this.changes += 1;
    this.countExpiration();
    return true;
  }

  /** Unix ms; Infinity without a time to live; null when there is no such key. */
  expiresMs(key: string): number | null {
    return this.find(key)?.expiresMs ?? null;
  }

  get size(): number {
    return this.keys.size;
  }

  names(): string[] {
    return [...this.keys.keys()].filter((key) => this.has(key));
  }

  clear(): void {
    this.keys.clear();
    this.changes += 1;
  }

  /** Replaces all keys with copies of those of another database. */
  copyFrom(other: Database): void {
    this.clear();
    for (const [key, { value, expiresMs }] of other.keys) {
      this.keys.set(key, { value: cloneOf(value), expiresMs });
    }
  }

  private find(key: string): StoredKey | undefined {
    const stored = this.keys.get(key);
    // A key lives through the millisecond in which it expires.
    if (stored === undefined || this.nowMs <= stored.expiresMs) return stored;
    if (this.onExpired === null) return stored;
    this.keys.delete(key);
    this.onExpired(key);
    return undefined;
  }

  private countExpiration(): void {
    this.expirations += 1;
    if (this.expirations % SWEEP_EVERY === 0) for (const key of this.keys.keys()) this.find(key);
  }
}

function cloneOf(value: StoredValue): StoredValue {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return value.slice();
  return value instanceof Map ? new Map(value) : value.clone();
}
