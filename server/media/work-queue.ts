/** Work that waits for its turn. */
interface Work {
  /** How long it is: segments to load or to list. */
  readonly size: number;
  start(): Promise<unknown>;
}

/** The work of one network; not empty. */
interface Group {
  readonly network: string;
  readonly waiting: Work[];
  isOldestNext: boolean;
}

/**
 * Does one work at a time. Networks take turns, so that one cannot keep it busy with an archive. Of a network it
 * takes in turn the smallest work and the one that waits longest: in order of arrival, a short recording waited for
 * all long ones; smallest first alone, a long one might wait for ever.
 */
export class WorkQueue {
  /** In the order of their turns. */
  private readonly groups: Group[] = [];
  private isWorking = false;
  private wasOldest = false;

  /** Whether added work starts at once. */
  get isIdle(): boolean {
    return !this.isWorking;
  }

  /** @param network of the client who waits for it */
  add<Result>(network: string, size: number, work: () => Promise<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.groupOf(network).waiting.push({ size, start: () => work().then(resolve, reject) });
    if (!this.isWorking) void this.run();
    return promise;
  }

  private groupOf(network: string): Group {
    const known = this.groups.find((group) => group.network === network);
    if (known) return known;
    const group = { network, waiting: [], isOldestNext: !this.wasOldest };
    this.groups.push(group);
    return group;
  }

  private async run(): Promise<void> {
    this.isWorking = true;
    for (let next = this.take(); next; next = this.take()) await next.start();
    this.isWorking = false;
  }

  private take(): Work | undefined {
    const group = this.groups.shift();
    if (!group) return undefined;
    const { waiting, isOldestNext } = group;
    this.wasOldest = isOldestNext;
    group.isOldestNext = !isOldestNext;
    const sizes = waiting.map(({ size }) => size);
    const [work] = waiting.splice(isOldestNext ? 0 : sizes.indexOf(Math.min(...sizes)), 1);
    if (waiting.length > 0) this.groups.push(group);
    return work;
  }
}
