import { GroupQueue } from '../../platform/group-queue.ts';

interface AccountWrite {
  readonly account: string | null;
}

/**
 * Writes of accounts that wait. Accounts take turns, and in each its procedures: a program that sells does not delay
 * the buttons of its host, and many buttons of one host do not delay another host.
 */
export class WriteQueue<T extends AccountWrite> {
  /** An entry for each write. */
  private readonly accounts = new GroupQueue<null>();
  private readonly byAccount = new Map<string, GroupQueue<T>>();

  /** @param name of its procedure */
  push(name: string, write: T): void {
    const account = accountOf(write);
    this.accounts.push(account, null);
    this.queueOf(account).push(name, write);
  }

  /** Puts a write back as the first of its procedure. */
  unshift(name: string, write: T): void {
    const account = accountOf(write);
    this.accounts.unshift(account, null);
    this.queueOf(account).unshift(name, write);
  }

  /** Takes the next write. @param isReady accounts for which this is false keep their position */
  shift(isReady: (account: string) => boolean): T | undefined {
    let taken: string | undefined;
    this.accounts.shift((account) => {
      if (!isReady(account)) return false;
      taken = account;
      return true;
    });
    if (taken === undefined) return undefined;
    const write = this.byAccount.get(taken)?.shift();
    this.removeIfEmpty(taken);
    return write;
  }

  /** Takes the first writes of each procedure, up to the first one for which this is false. */
  takeWhile(isTaken: (write: T) => boolean): T[] {
    const taken: T[] = [];
    for (const [account, queue] of [...this.byAccount]) {
      for (const write of queue.takeWhile(isTaken)) {
        taken.push(write);
        this.accounts.popOf(account);
      }
      this.removeIfEmpty(account);
    }
    return taken;
  }

  /** Takes all writes. */
  clear(): T[] {
    const all = [...this.byAccount.values()].flatMap((queue) => queue.clear());
    this.accounts.clear();
    this.byAccount.clear();
    return all;
  }

  private queueOf(account: string): GroupQueue<T> {
    const queue = this.byAccount.get(account) ?? new GroupQueue<T>();
    this.byAccount.set(account, queue);
    return queue;
  }

  private removeIfEmpty(account: string): void {
    if (this.accounts.lengthOf(account) === 0) this.byAccount.delete(account);
  }
}

const accountOf = ({ account }: AccountWrite): string => account ?? '';
