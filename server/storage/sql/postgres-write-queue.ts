import { Fifo } from '../../platform/fifo.ts';
import { GroupQueue } from '../../platform/group-queue.ts';

interface AccountWrite {
  readonly account: string | null;
}

/** The writes of an account that wait. */
interface WritesOfAccount<T> {
  readonly account: string;
  /** By procedure. */
  readonly queue: GroupQueue<T>;
  count: number;
}

/**
 * Writes of accounts that wait. Accounts take turns, and in each its procedures: a program that sells does not delay
 * the buttons of its host, and many buttons of one host do not delay another host.
 */
export class WriteQueue<T extends AccountWrite> {
  /** Those with writes. */
  private readonly byAccount = new Map<string, WritesOfAccount<T>>();
  /** The same in the order of their turns, and some that have no writes any more. */
  private order = new Fifo<WritesOfAccount<T>>();

  /** @param name of its procedure */
  push(name: string, write: T): void {
    this.addTo(write.account).push(name, write);
  }

  /** Puts a write back as the first of its procedure. */
  unshift(name: string, write: T): void {
    this.addTo(write.account).unshift(name, write);
  }

  /** Takes the next write. @param isReady accounts for which this is false keep their position */
  shift(isReady: (account: string) => boolean): T | undefined {
    const skipped: WritesOfAccount<T>[] = [];
    let next = this.order.shift();
    for (; next && (next.count === 0 || !isReady(next.account)); next = this.order.shift()) {
      if (next.count > 0) skipped.push(next);
    }
    for (const each of skipped.reverse()) this.order.unshift(each);
    if (!next) return undefined;
    const write = next.queue.shift();
    this.remove(next, 1);
    if (next.count > 0) this.order.push(next);
    return write;
  }

  /** Takes the first writes of each procedure, up to the first one for which this is false. */
  takeWhile(isTaken: (write: T) => boolean): T[] {
    return [...this.byAccount.values()].flatMap((writes) => {
      const taken = writes.queue.takeWhile(isTaken);
      this.remove(writes, taken.length);
      return taken;
    });
  }

  /** Takes all writes. */
  clear(): T[] {
    const all = [...this.byAccount.values()].flatMap(({ queue }) => queue.clear());
    this.byAccount.clear();
    this.order = new Fifo();
    return all;
  }

  /** Counts one more write of an account. @returns its queue */
  private addTo(account: string | null): GroupQueue<T> {
    const name = account ?? '';
    let writes = this.byAccount.get(name);
    if (!writes) {
      writes = { account: name, queue: new GroupQueue(), count: 0 };
      this.byAccount.set(name, writes);
      this.order.push(writes);
    }
    writes.count++;
    return writes.queue;
  }

  private remove(writes: WritesOfAccount<T>, count: number): void {
    writes.count -= count;
    if (writes.count === 0) this.byAccount.delete(writes.account);
  }
}
