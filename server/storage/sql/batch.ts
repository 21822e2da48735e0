import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';

/** The caller that waits for the result of an item. */
export interface Waiter<Result> {
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * With this many calls in flight, new items wait for the next call: when the database is the
 * bottleneck, batches grow instead of its queue.
 */
const IN_FLIGHT_MAX = 4;
/** Maximum wait of these items, so that a stalled call does not delay others. */
const WAIT_MAX_MS = 20;
/** Flush early at this batch size. */
const FLUSH_SIZE = 400;

/**
 * Combines items into one call: those of one turn of the event loop, those that arrive within
 * `paceMs` of the last call, and those that arrive while `IN_FLIGHT_MAX` calls are in flight. A hundred
 * answers cost one statement instead of a hundred. Batches grow with the load of the event loop and of
 * the database.
 */
export class Batch<Item, Result> {
  private items: Item[] = [];
  /** One per item. */
  private waiters: Waiter<Result>[] = [];
  private inFlight = 0;
  private waitTimer: Timer | null = null;
  private pacedTimer: Timer | null = null;
  private lastSentMs = Number.NEGATIVE_INFINITY;

  /**
   * @param run returns the results in the order of the items; its error rejects every item
   * @param sizeMax maximum number of items in one call
   * @param deadlineMs deadline of a call that makes several database calls; null for a single database
   *   call, which has a deadline of its own
   * @param paceMs minimum time between calls, unless `FLUSH_SIZE` items wait: a commit costs 100 µs of
   *   CPU, however many share it. 0 for callers that wait for each other's results.
   * @param onWaiterError receives errors that a waiter throws; by default they become unhandled rejections
   */
  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly sizeMax: number,
    private readonly deadlineMs: number | null = null,
    private readonly paceMs = 0,
    private readonly onWaiterError = (error: unknown): void => void Promise.reject(error),
  ) {}

  /** Adds an item to the next call. @throws the error of that call; Unavailable at its deadline */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => this.enqueue(item, { resolve, reject }));
  }

  /** Like `add`, but notifies a waiter instead of returning a promise. */
  enqueue(item: Item, waiter: Waiter<Result>): void {
    this.waiters.push(waiter);
    const size = this.items.push(item);
    if (size === 1 || size === FLUSH_SIZE) runtime.setImmediate(this.flush);
  }

  private readonly flush = (): void => {
    if (this.items.length === 0) return;
    const waitMs = this.lastSentMs + this.paceMs - runtime.monotonicMs();
    if (waitMs > 0 && this.items.length < FLUSH_SIZE) {
      this.pacedTimer ??= runtime.setTimeout(this.flushPaced, waitMs);
      return;
    }
    while (this.items.length > 0 && this.inFlight < IN_FLIGHT_MAX) this.sendBatch();
    if (this.items.length > 0) this.waitTimer ??= runtime.setTimeout(this.flushAll, WAIT_MAX_MS);
  };

  private readonly flushPaced = (): void => {
    this.pacedTimer = null;
    this.flush();
  };

  private readonly flushAll = (): void => {
    this.waitTimer = null;
    while (this.items.length > 0) this.sendBatch();
  };

  private sendBatch(): void {
    this.lastSentMs = runtime.monotonicMs();
    const items = this.items.splice(0, this.sizeMax);
    void this.runBatch(items, this.waiters.splice(0, this.sizeMax));
  }

  private async runBatch(
    items: readonly Item[],
    waiters: readonly Waiter<Result>[],
  ): Promise<void> {
    const rejectAll = (error: unknown) => {
      for (const waiter of waiters) this.isolate(() => waiter.reject(error));
    };
    const expire = () => rejectAll(new Unavailable('The database did not answer in time.'));
    const timer = this.deadlineMs === null ? null : runtime.setTimeout(expire, this.deadlineMs);
    this.inFlight++;
    let results: readonly Result[];
    try {
      results = await this.run(items);
    } catch (error) {
      rejectAll(error);
      return;
    } finally {
      if (timer) runtime.clearTimer(timer);
      this.inFlight--;
      this.flush();
    }
    for (let index = 0; index < waiters.length; index++) {
      this.isolate(() => waiters[index]?.resolve(results[index] as Result));
    }
  }

  /** Runs a callback whose error must not affect the other waiters. */
  private isolate(notify: () => void): void {
    try {
      notify();
    } catch (error) {
      this.onWaiterError(error);
    }
  }
}
