import { Unavailable } from '../refusal.ts';

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * While so many calls are under way, what arrives waits and shares the next one: when the record is
 * the slower part, batches grow instead of its queue.
 */
const CALLS_MAX = 4;
/** But it waits no longer than this, so that a call that is held up holds up no others. */
const WAIT_MS = 20;

/**
 * Gathers what arrives in one turn of the event loop, or while enough calls are under way, into one
 * call: a hundred answers cost one statement instead of a hundred. The busier the loop and the
 * record, the larger the batches.
 */
export class Batch<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private underWay = 0;
  private late: Timer | null = null;

  /**
   * @param run gives results in the order of the items; what it throws, every item's caller gets
   * @param sizeMax most items in one call
   * @param deadlineMs how long a call may take that is more than one of the record, whose calls have
   *   a deadline each; null where it is one
   */
  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly sizeMax: number,
    private readonly deadlineMs: number | null = null,
  ) {}

  /** Adds an item to the next call. @throws what that throws; Unavailable at its deadline */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => this.put(item, resolve, reject));
  }

  /** As `add`, without a promise: one of the two is called, later. */
  put(item: Item, resolve: (result: Result) => void, reject: (error: unknown) => void): void {
    const first = this.waiting.push({ item, resolve, reject }) === 1;
    if (first) setImmediate(this.send);
  }

  private readonly send = (): void => {
    while (this.waiting.length > 0 && this.underWay < CALLS_MAX) this.sendSome();
    if (this.waiting.length > 0) this.late ??= setTimeout(this.sendLate, WAIT_MS);
  };

  private readonly sendLate = (): void => {
    this.late = null;
    while (this.waiting.length > 0) this.sendSome();
  };

  private sendSome(): void {
    const some = this.waiting.slice(0, this.sizeMax);
    this.waiting = this.waiting.slice(this.sizeMax);
    void this.call(some);
  }

  private async call(part: readonly Waiting<Item, Result>[]): Promise<void> {
    const refuse = (error: unknown) => {
      for (const { reject } of part) reject(error);
    };
    const giveUp = () => refuse(new Unavailable('The record did not answer in time.'));
    const timer = this.deadlineMs === null ? null : setTimeout(giveUp, this.deadlineMs);
    this.underWay++;
    let results: readonly Result[];
    try {
      results = await this.run(part.map(({ item }) => item));
    } catch (error) {
      refuse(error);
      return;
    } finally {
      if (timer) clearTimeout(timer);
      this.underWay--;
      this.send();
    }
    // Apart from the call: what goes wrong with one of these refuses none of the others.
    for (const [index, { resolve }] of part.entries()) resolve(results[index] as Result);
  }
}
