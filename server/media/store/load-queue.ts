/** Something to load. */
interface Load {
  /** Files to read. */
  readonly size: number;
  start(): Promise<unknown>;
}

/**
 * Loads one thing at a time: in turn the smallest one and the one that waits longest. In order of arrival, a
 * short recording waited for all long ones of an archive; smallest first alone, a long one might wait for ever.
 */
export class LoadQueue {
  private readonly waiting: Load[] = [];
  private isLoading = false;
  private isOldestNext = false;

  add<Result>(size: number, load: () => Promise<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.waiting.push({ size, start: () => load().then(resolve, reject) });
    if (!this.isLoading) void this.run();
    return promise;
  }

  private async run(): Promise<void> {
    this.isLoading = true;
    for (let next = this.take(); next; next = this.take()) await next.start();
    this.isLoading = false;
  }

  private take(): Load | undefined {
    const { waiting } = this;
    this.isOldestNext = !this.isOldestNext;
    if (this.isOldestNext) return waiting.shift();
    const sizes = waiting.map(({ size }) => size);
    return waiting.splice(sizes.indexOf(Math.min(...sizes)), 1)[0];
  }
}
