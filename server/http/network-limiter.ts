import { GroupedLimiter } from '../platform/grouped-limiter.ts';
import { networkOf } from './address.ts';

/** A task that waits longer is rejected: a request must end within the deadline of one call (SPEC R-15). */
const WAIT_MAX_MS = 800;

/**
 * Runs a bounded number of tasks of clients at once. Networks (IPv6 /48, IPv4 /16) take turns, and in a network its
 * clients: one client that filled the queue had those of its network rejected.
 */
export class NetworkLimiter {
  private readonly limiter: GroupedLimiter;

  /**
   * @param activeMax most tasks at once
   * @param queuedMax most that wait for the turn of their network; of one client as many more may wait
   * @param fullReason why a task is rejected, for its client
   */
  constructor(activeMax: number, queuedMax: number, fullReason: string) {
    const limits = { activeMax, queuedMax, queuedOfMemberMax: queuedMax, waitMaxMs: WAIT_MAX_MS };
    this.limiter = new GroupedLimiter(limits, fullReason);
  }

  /**
   * Runs a task in turn.
   * @param client rate limit key of the client
   * @throws Unavailable when too many wait, this one waits for too long, or one before it fails with `Unavailable`
   */
  run<T>(client: string, work: () => Promise<T>): Promise<T> {
    return this.limiter.run({ group: networkOf(client) ?? client, member: client }, work);
  }
}
