import { Unavailable } from './errors.ts';
import { runtime } from './runtime.ts';

/** A read that fails later failed for a reason that all share: the deadline of the database. */
const LIMIT_ERROR_MS = 100;

/** Callers that read the same at the same time share one read. */
export class SharedReads<T> {
  private readonly reads = new Map<string, Promise<T>>();

  /**
   * Reads, or waits for a read that began before. The limit of the caller who began it may end that at once; then
   * the others read once more: one client at its limit kept all others from what it asked for.
   */
  run(key: string, read: () => Promise<T>): Promise<T> {
    const current = this.reads.get(key);
    if (!current) return this.begin(key, read);
    const joinedMs = runtime.monotonicMs();
    return current.catch((error) => {
      const isLimit = runtime.monotonicMs() - joinedMs < LIMIT_ERROR_MS;
      if (!(error instanceof Unavailable) || !isLimit) throw error;
      return this.reads.get(key) ?? this.begin(key, read);
    });
  }

  private begin(key: string, read: () => Promise<T>): Promise<T> {
    const promise = read().finally(() => {
      this.reads.delete(key);
    });
    this.reads.set(key, promise);
    return promise;
  }
}
