/** Work that waits for its turn. */
interface Work {
  /** How long it is: segments to load or to list. */
  readonly size: number;
  start(): Promise<unknown>;
}

/**
 * Does one work at a time: in turn the smallest one and the one that waits longest. In order of arrival, a
 * short recording waited for all long ones of an archive; smallest first alone, a long one might wait for ever.
 */
export class WorkQueue {
  private readonly waiting: Work[] = [];
  private isWorking = false;
  private isOldestNext = false;

  /** Whether added work starts at once. */
  get isIdle(): boolean {
    return !this.isWorking;
  }

  add<Result>(size: number, work: () => Promise<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.waiting.push({ size, start: () => work().then(resolve, reject) });
    if (!this.isWorking) void this.run();
    return promise;
  }

  private async run(): Promise<void> {
    this.isWorking = true;
    for (let next = this.take(); next; next = this.take()) await next.start();
    this.isWorking = false;
  }

  private take(): Work | undefined {
    const { waiting } = this;
    this.isOldestNext = !this.isOldestNext;
    if (this.isOldestNext) return waiting.shift();
    const sizes = waiting.map(({ size }) => size);
    return waiting.splice(sizes.indexOf(Math.min(...sizes)), 1)[0];
  }
}
