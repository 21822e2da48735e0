import { ConcurrencyLimiter } from '../platform/concurrency-limiter.ts';
import { Unavailable } from '../platform/errors.ts';
import { networkOf } from './address.ts';

/** Runs a bounded number of tasks of clients at once. Networks (IPv6 /48, IPv4 /16) take turns. */
export class NetworkLimiter {
  private readonly limiter: ConcurrencyLimiter;

  /** @param fullReason why a full queue rejects a task, for its client */
  constructor(activeMax: number, queuedMax: number, fullReason: string) {
    this.limiter = new ConcurrencyLimiter(activeMax, queuedMax, fullReason);
  }

  /**
   * Runs a task when it is the turn of its client's network. If it fails with `Unavailable`, those that wait fail
   * with it: they would wait for the same deadline, one after the other (SPEC R-15).
   * @param client rate limit key of the client
   * @throws Unavailable when too many wait
   */
  run<T>(client: string, work: () => Promise<T>): Promise<T> {
    return this.limiter.run(networkOf(client) ?? client, async () => {
      try {
        return await work();
      } catch (error) {
        if (error instanceof Unavailable) this.limiter.rejectQueued(error);
        throw error;
      }
    });
  }
}
