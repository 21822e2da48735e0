/** Space of taken items that stays: `shift` moves the others only when they are fewer. */
const SPACE_MAX = 1_000;

/** A queue: first in, first out. An array, so that no iterator refers to items that were taken. */
export class Fifo<T> {
  private items: (T | undefined)[] = [];
  private head = 0;

  get length(): number {
    return this.items.length - this.head;
  }

  push(item: T): void {
    this.items.push(item);
  }

  first(): T | undefined {
    return this.items[this.head];
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.items[this.head];
    this.items[this.head++] = undefined;
    const isSparse = this.head > SPACE_MAX && this.head > this.length;
    if (this.length === 0 || isSparse) this.compact();
    return item;
  }

  /** Puts an item back as the first. */
  unshift(item: T): void {
    if (this.head > 0) this.items[--this.head] = item;
    else this.items.unshift(item);
  }

  /** Takes the last item. */
  pop(): T | undefined {
    return this.length === 0 ? undefined : this.items.pop();
  }

  /** Takes all items. */
  clear(): T[] {
    const all = this.items.slice(this.head) as T[];
    this.items = [];
    this.head = 0;
    return all;
  }

  private compact(): void {
    this.items = this.items.slice(this.head);
    this.head = 0;
  }
}
