import { Fifo } from './fifo.ts';

interface Group<T> {
  readonly name: string;
  readonly items: Fifo<T>;
}

/** A queue in which groups take turns; the items of one group are in order of arrival. */
export class GroupQueue<T> {
  /** No group is empty. */
  private readonly groups = new Map<string, Group<T>>();
  /** The same groups in the order of their turns. */
  private order = new Fifo<Group<T>>();

  push(name: string, item: T): void {
    this.groupOf(name).items.push(item);
  }

  /** Puts an item back as the first of its group. */
  unshift(name: string, item: T): void {
    this.groupOf(name).items.unshift(item);
  }

  /**
   * Takes the first item of the group whose turn it is.
   * @param isReady groups for which this is false keep their position
   */
  shift(isReady: (name: string) => boolean = () => true): T | undefined {
    const skipped: Group<T>[] = [];
    let group = this.order.shift();
    for (; group && !isReady(group.name); group = this.order.shift()) skipped.push(group);
    for (const each of skipped.reverse()) this.order.unshift(each);
    const item = group?.items.shift();
    if (!group) return undefined;
    if (group.items.length > 0) this.order.push(group);
    else this.groups.delete(group.name);
    return item;
  }

  /** The number of items of a group. */
  lengthOf(name: string): number {
    return this.groups.get(name)?.items.length ?? 0;
  }

  /** The group with the most items. */
  largestGroup(): string | undefined {
    return [...this.groups.values()].reduce<Group<T> | undefined>(
      (largest, group) => (largest && largest.items.length >= group.items.length ? largest : group),
      undefined,
    )?.name;
  }

  /** Takes the last item of a group. */
  popOf(name: string): T | undefined {
    const group = this.groups.get(name);
    const item = group?.items.pop();
    if (group?.items.length === 0) this.removeEmptyGroups();
    return item;
  }

  /** Takes the first items of each group, up to the first one for which this is false. */
  takeWhile(isTaken: (item: T) => boolean): T[] {
    const taken: T[] = [];
    for (const { items } of this.groups.values()) {
      for (let item = items.first(); item !== undefined && isTaken(item); item = items.first()) {
        items.shift();
        taken.push(item);
      }
    }
    if (taken.length > 0) this.removeEmptyGroups();
    return taken;
  }

  /** Takes all items. */
  clear(): T[] {
    const all = [...this.groups.values()].flatMap(({ items }) => items.clear());
    this.groups.clear();
    this.order = new Fifo();
    return all;
  }

  private groupOf(name: string): Group<T> {
    let group = this.groups.get(name);
    if (!group) {
      group = { name, items: new Fifo() };
      this.groups.set(name, group);
      this.order.push(group);
    }
    return group;
  }

  private removeEmptyGroups(): void {
    for (const group of this.order.clear()) {
      if (group.items.length > 0) this.order.push(group);
      else this.groups.delete(group.name);
    }
  }
}
