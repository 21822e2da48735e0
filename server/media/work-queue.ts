/** Work that waits for its turn. */
interface Work {
  readonly key: object;
  /** How long it is: segments to load or to list. */
  readonly size: number;
  start(): Promise<unknown>;
  /** Whether it is the work of several networks. */
  isShared: boolean;
}

/** The work of one network; not empty. */
interface Group {
  readonly network: string;
  readonly waiting: Work[];
  isOldestNext: boolean;
}

/** Networks that wait. Further ones do not share work: the crowd of a show that has just ended is served soon. */
const GROUPS_MAX = 1_000;

/**
 * Does one work at a time. Networks take turns, so that one cannot keep it busy with an archive; work that several
 * networks wait for takes the turns of each. Of a network it takes in turn the smallest work and the one that waits
 * longest: in order of arrival, a short recording waited for all long ones; smallest first alone, a long one might
 * wait for ever.
 */
export class WorkQueue {
  /** In the order of their turns. */
  private groups: Group[] = [];
  private readonly waiting = new Map<object, Work>();
  private isWorking = false;
  private wasOldest = false;

  /** Whether added work starts at once. */
  get isIdle(): boolean {
    return !this.isWorking;
  }

  /**
   * @param network of the client who waits for it, or the account of a live stream: each takes turns
   * @param key for `join`
   */
  add<Result>(
    network: string,
    key: object,
    size: number,
    run: () => Promise<Result>,
  ): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const start = () => run().then(resolve, reject);
    const work = { key, size, start, isShared: false };
    this.waiting.set(key, work);
    this.groupOf(network).waiting.push(work);
    if (!this.isWorking) void this.run();
    return promise;
  }

  /** Makes work that has not begun that of this network, too. */
  join(network: string, key: object): void {
    const work = this.waiting.get(key);
    if (!work || this.groups.length >= GROUPS_MAX) return;
    const { waiting } = this.groupOf(network);
    if (waiting.includes(work)) return;
    waiting.push(work);
    work.isShared = true;
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
    const work = waiting[isOldestNext ? 0 : sizes.indexOf(Math.min(...sizes))] as Work;
    this.groups.push(group);
    this.waiting.delete(work.key);
    for (const each of work.isShared ? this.groups : [group]) {
      const index = each.waiting.indexOf(work);
      if (index >= 0) each.waiting.splice(index, 1);
    }
    this.groups = this.groups.filter((each) => each.waiting.length > 0);
    return work;
  }
}
