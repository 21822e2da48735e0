import { drainMicrotasks } from 'bun:jsc';

interface Happening {
  readonly dueMs: number;
  /** Of those that are due at once, the first comes first. */
  readonly order: number;
  /** null: it was called off. */
  run: (() => void) | null;
}

/** Virtual time: nothing waits, and everything happens in its order. */
export class Scheduler {
  /** The true time, Unix ms. */
  nowMs: number;
  /** A heap: none is due before its parent, which is at half its place. */
  readonly #heap: Happening[] = [];
  #orders = 0;

  constructor(startMs: number) {
    this.nowMs = startMs;
  }

  /** @returns what calls it off */
  readonly after = (ms: number, run: () => void): (() => void) => {
    const dueMs = this.nowMs + Math.max(ms, 0);
    const happening: Happening = { dueMs, order: this.#orders++, run };
    this.#push(happening);
    return () => {
      happening.run = null;
    };
  };

  /**
   * Lets so many ms pass; all that needs no time is done before the next thing happens: promises are,
   * at once, which costs less than turns of the engine's loop.
   */
  advance(ms: number): void {
    const endMs = this.nowMs + ms;
    drainMicrotasks();
    for (;;) {
      const first = this.#heap[0];
      if (!first || first.dueMs > endMs) break;
      this.#pop();
      if (!first.run) continue;
      this.nowMs = first.dueMs;
      first.run();
      drainMicrotasks();
    }
    this.nowMs = endMs;
  }

  #push(happening: Happening): void {
    const heap = this.#heap;
    let place = heap.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(happening, heap[parent] as Happening)) break;
      heap[place] = heap[parent] as Happening;
      place = parent;
    }
    heap[place] = happening;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Happening;
    if (heap.length === 0) return;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      const [left, right] = [heap[child] as Happening, heap[child + 1]];
      if (right && isBefore(right, left)) child += 1;
      if (!isBefore(heap[child] as Happening, last)) break;
      heap[place] = heap[child] as Happening;
      place = child;
    }
    heap[place] = last;
  }
}

function isBefore(a: Happening, b: Happening): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
