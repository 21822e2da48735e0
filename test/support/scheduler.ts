import { drainMicrotasks } from 'bun:jsc';

interface ScheduledTask {
  readonly dueMs: number;
  /** Order of tasks that are due at the same time. */
  readonly order: number;
  /** null: canceled. */
  run: (() => void) | null;
}

/** Far above what any moment needs: two tasks that call each other without a delay. */
const MAX_TASKS_AT_ONCE = 200_000;

/** Virtual time: tasks run in order, without waiting. */
export class Scheduler {
  /** True time, Unix ms. */
  nowMs: number;
  /** Binary heap by due time; the parent of index i is at (i - 1) / 2. */
  readonly #heap: ScheduledTask[] = [];
  #nextOrder = 0;
  /** Tasks that ran since time last advanced. */
  #runAtNow = 0;

  /** @param beforeTask called before each task */
  constructor(
    startMs: number,
    private readonly beforeTask: () => void = () => {},
  ) {
    this.nowMs = startMs;
  }

  /** @returns a function that cancels the task */
  readonly after = (ms: number, run: () => void): (() => void) => {
    const dueMs = this.nowMs + Math.max(ms, 0);
    const task: ScheduledTask = { dueMs, order: this.#nextOrder++, run };
    this.#push(task);
    return () => {
      task.run = null;
    };
  };

  /** Advances time. Promises settle after each task, by draining microtasks: faster than the event loop. */
  advance(ms: number): void {
    const endMs = this.nowMs + ms;
    drainMicrotasks();
    for (;;) {
      const first = this.#heap[0];
      if (!first || first.dueMs > endMs) break;
      this.#pop();
      if (!first.run) continue;
      if (first.dueMs > this.nowMs) this.#runAtNow = 0;
      else if (++this.#runAtNow > MAX_TASKS_AT_ONCE) throw new Error('virtual time stands still');
      this.nowMs = first.dueMs;
      this.beforeTask();
      first.run();
      drainMicrotasks();
    }
    this.nowMs = endMs;
  }

  #push(task: ScheduledTask): void {
    const heap = this.#heap;
    let index = heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(task, heap[parent] as ScheduledTask)) break;
      heap[index] = heap[parent] as ScheduledTask;
      index = parent;
    }
    heap[index] = task;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as ScheduledTask;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      const [left, right] = [heap[child] as ScheduledTask, heap[child + 1]];
      if (right && isBefore(right, left)) child += 1;
      if (!isBefore(heap[child] as ScheduledTask, last)) break;
      heap[index] = heap[child] as ScheduledTask;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(a: ScheduledTask, b: ScheduledTask): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
