import { Unavailable } from '../../platform/errors.ts';

/** Who waits for the result of an item. */
export interface Waiter<Result> {
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * While so many calls are under way, what arrives waits and shares the next one: when the database is
 * the slower part, batches grow instead of its queue.
 */
const CALLS_MAX = 4;
/** But it waits no longer than this, so that a call that is held up holds up no others. */
const WAIT_MS = 20;
/** So many wait for no pace. */
const ENOUGH = 400;

/**
 * Gathers what arrives in one turn of the event loop, soon after a call or while enough of them are under
 * way, into one call: a hundred answers cost one statement instead of a hundred. The busier the loop and the
 * record, the larger the batches.
 */
export class Batch<Item, Result> {
  private items: Item[] = [];
  /** For the result of each item. */
  private waiters: Waiter<Result>[] = [];
  private underWay = 0;
  private late: Timer | null = null;
  private paced: Timer | null = null;
  private lastMs = Number.NEGATIVE_INFINITY;

  /**
   * @param run gives results in the order of the items; what it throws, every item's caller gets
   * @param sizeMax most items in one call
   * @param deadlineMs how long a call may take that is more than one of the database, whose calls have
   *   a deadline each; null where it is one
   * @param paceMs what arrives less than this after a call was sent waits, unless it is many: a commit costs
   *   100 µs of CPU, however many share it. Where few callers wait for each other it would slow them.
   * @param onDefect is told what a waiter threw; else it is logged as a failure that nobody waits for
   */
  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly sizeMax: number,
    private readonly deadlineMs: number | null = null,
    private readonly paceMs = 0,
    private readonly onDefect = (error: unknown): void => void Promise.reject(error),
  ) {}

  /** Adds an item to the next call. @throws what that throws; Unavailable at its deadline */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => this.put(item, { resolve, reject }));
  }

  /** As `add`, without a promise: the waiter is told, later. */
  put(item: Item, waiter: Waiter<Result>): void {
    this.waiters.push(waiter);
    const waiting = this.items.push(item);
    if (waiting === 1 || waiting === ENOUGH) setImmediate(this.send);
  }

  private readonly send = (): void => {
    if (this.items.length === 0) return;
    const earlyMs = this.lastMs + this.paceMs - performance.now();
    if (earlyMs > 0 && this.items.length < ENOUGH) {
      this.paced ??= setTimeout(this.sendPaced, earlyMs);
      return;
    }
    while (this.items.length > 0 && this.underWay < CALLS_MAX) this.sendSome();
    if (this.items.length > 0) this.late ??= setTimeout(this.sendLate, WAIT_MS);
  };

  private readonly sendPaced = (): void => {
    this.paced = null;
    this.send();
  };

  private readonly sendLate = (): void => {
    this.late = null;
    while (this.items.length > 0) this.sendSome();
  };

  private sendSome(): void {
    this.lastMs = performance.now();
    const items = this.items.splice(0, this.sizeMax);
    void this.call(items, this.waiters.splice(0, this.sizeMax));
  }

  private async call(items: readonly Item[], waiters: readonly Waiter<Result>[]): Promise<void> {
    const refuse = (error: unknown) => {
      for (const waiter of waiters) this.apart(() => waiter.reject(error));
    };
    const giveUp = () => refuse(new Unavailable('The database did not answer in time.'));
    const timer = this.deadlineMs === null ? null : setTimeout(giveUp, this.deadlineMs);
    this.underWay++;
    let results: readonly Result[];
    try {
      results = await this.run(items);
    } catch (error) {
      refuse(error);
      return;
    } finally {
      if (timer) clearTimeout(timer);
      this.underWay--;
      this.send();
    }
    for (let at = 0; at < waiters.length; at++) {
      this.apart(() => waiters[at]?.resolve(results[at] as Result));
    }
  }

  // What goes wrong with one of them keeps nothing from the others.
  private apart(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.onDefect(error);
    }
  }
}
