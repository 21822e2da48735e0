interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Gathers what arrives in one turn of the event loop into one call: a hundred answers cost one
 * statement instead of a hundred. The busier the loop, the larger its turns and the batches.
 */
export class Batch<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];

  /**
   * @param run gives results in the order of the items; what it throws, every item's caller gets
   * @param sizeMax most items in one call
   */
  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly sizeMax: number,
  ) {}

  /** Adds an item to the batch of this turn. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const first = this.waiting.push({ item, resolve, reject }) === 1;
      if (first) setImmediate(this.flush);
    });
  }

  private readonly flush = (): void => {
    const all = this.waiting;
    this.waiting = [];
    for (let at = 0; at < all.length; at += this.sizeMax) {
      void this.call(all.slice(at, at + this.sizeMax));
    }
  };

  private async call(part: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.run(part.map(({ item }) => item));
      for (const [index, { resolve }] of part.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of part) reject(error);
    }
  }
}
