import { networkOf } from '../../http/address.ts';
import { GroupQueue } from '../../platform/group-queue.ts';
import { runtime } from '../../platform/runtime.ts';
import type { ReadClient } from './feed-log.ts';

/** Most time of one turn of the event loop for older intervals, in ms, over all event streams. */
const SLICE_MS = 4;

/**
 * Runs steps of the event streams of a feed that send older intervals, for a slice of each turn of the event loop.
 * Pages mostly come from memory, so without it one page of each stream ran in each turn: 2,500 streams that one viewer
 * opened at once stopped the thread for 0.4 s in each of 36 turns.
 */
export class CatchUpQueue {
  /** By network of the client. */
  private readonly waiting = new GroupQueue<() => Promise<unknown>>();
  private isRunning = false;
  /** The number of the turn in which steps run now. */
  turn = 0;

  /** Reads a page, and sends it in the same turn if it can. Networks take turns. It rejects as `step` does. */
  run<T>(client: ReadClient | undefined, step: () => Promise<T>): Promise<T> {
    return this.add(client, step, (network, start) => this.waiting.push(network, start));
  }

  /**
   * Sends a page that was read in an earlier turn. Of its network it is the first: while such pages wait in memory,
   * the network reads no further one.
   */
  runFirst(client: ReadClient | undefined, step: () => Promise<void>): Promise<void> {
    return this.add(client, step, (network, start) => this.waiting.unshift(network, start));
  }

  private add<T>(
    client: ReadClient | undefined,
    step: () => Promise<T>,
    wait: (network: string, start: () => Promise<unknown>) => void,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    wait(networkOf(client?.() ?? '') ?? '', () => step().then(resolve, reject));
    if (!this.isRunning) void this.runAll();
    return promise;
  }

  private async runAll(): Promise<void> {
    this.isRunning = true;
    for (let next = this.waiting.shift(); next; )
      next = (await this.runSlice(next)) ?? this.waiting.shift();
    this.isRunning = false;
  }

  /** @returns a step that it took and did not run */
  private async runSlice(first: () => Promise<unknown>): Promise<typeof first | undefined> {
    const endMs = runtime.monotonicMs() + SLICE_MS;
    const { turn } = this;
    const turnOver = new Promise<void>((resolve) => runtime.setImmediate(resolve)).then(() => {
      this.turn++;
    });
    let next: typeof first | undefined = first;
    while (next && this.turn === turn && runtime.monotonicMs() < endMs) {
      // A page that is read from the database ends in a later turn: others do not wait for it.
      await Promise.race([next(), turnOver]);
      next = this.waiting.shift();
    }
    await turnOver;
    return next;
  }
}
