import { intervalAt } from '../../../protocol/interval.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Redis } from '../../storage/redis/redis.ts';
import { type BlockList, uniteBlock } from './presence-commands.ts';
import { BLOCK_SEATS, type PresenceRing } from './presence-ring.ts';
import { windowTo } from './replication-state.ts';
import { SeatSet } from './seat-set.ts';

export interface StreamCountOptions {
  readonly redis: Pick<Redis, 'callAll'>;
  readonly clock: Clock;
  /** The newest interval that all nodes have handed in, as far as is known here. */
  readonly sealedTo: () => number;
  readonly list: BlockList;
  readonly streamId: string;
  /** What registered on this node, if anything did. */
  readonly ring: () => PresenceRing | undefined;
  /** Whether other threads register here, of which `add` is not told. */
  readonly isShared: boolean;
}

/** Who counts in some intervals: what all nodes had handed in, and what registers here. */
interface View {
  readonly intervals: readonly number[];
  readonly seats: SeatSet;
}

/**
 * The count of one stream over all nodes, now. However many ask, Redis is asked once in an interval,
 * and once more when all nodes have handed in the one before; in between this node adds what
 * registers on it.
 */
export class StreamCount {
  #view: View | null = null;
  #fetching: Promise<View> | null = null;
  /** The blocks beyond the first that some node has handed in lately. */
  #further: readonly number[] = [];

  constructor(private readonly options: StreamCountOptions) {}

  /** A seat registered on this node. */
  add(seat: number): void {
    this.#view?.seats.add(seat);
  }

  /** Redis knows better than what was read of it. */
  forget(): void {
    this.#view = null;
  }

  /** @throws Unavailable */
  async value(): Promise<number> {
    const asked = this.#interval();
    if (this.#view !== null && this.#isNew(this.#view)) return this.#sizeOf(this.#view);
    for (;;) {
      this.#fetching ??= this.#fetch().finally(() => {
        this.#fetching = null;
      });
      const { intervals, seats } = await this.#fetching;
      // One that was begun in an earlier interval lacks what registered here since.
      if ((intervals.at(-1) as number) >= asked) return this.#sizeOf({ intervals, seats });
    }
  }

  /** Whether nobody asked in this interval. */
  isStale(): boolean {
    return this.#fetching === null && (this.#view?.intervals.at(-1) ?? 0) < this.#interval();
  }

  #isNew({ intervals }: View): boolean {
    const now = this.#intervals();
    return intervals.length === now.length && intervals.at(-1) === now.at(-1);
  }

  async #fetch(): Promise<View> {
    const { redis, list, streamId } = this.options;
    const intervals = this.#intervals();
    const blocks = [0, ...this.#further];
    const unite = (block: number) => uniteBlock(streamId, block, intervals);
    const [further, ...bitsets] = (await redis.callAll([
      list.further(streamId),
      ...blocks.map(unite),
    ])) as [number[], ...Uint8Array[]];
    const unasked = further.filter((block) => !blocks.includes(block));
    if (unasked.length > 0) {
      bitsets.push(...((await redis.callAll(unasked.map(unite))) as Uint8Array[]));
    }
    this.#further = further;
    const seats = new SeatSet();
    for (const [at, block] of [...blocks, ...unasked].entries()) {
      seats.addBits(block * BLOCK_SEATS, bitsets[at] as Uint8Array);
    }
    this.#addOwn(seats, windowTo(intervals.at(-1) as number));
    this.#view = { intervals, seats };
    return this.#view;
  }

  #sizeOf({ seats }: View): number {
    // What registers in other threads may be in an interval that has not begun for this one.
    const now = this.#interval();
    if (this.options.isShared) this.#addOwn(seats, [now - 1, now, now + 1]);
    return seats.size;
  }

  // In the same turn in which the view begins to be told of what registers.
  #addOwn(seats: SeatSet, intervals: readonly number[]): void {
    const ring = this.options.ring();
    for (const interval of intervals) {
      for (const { block, bytes } of ring?.blocksOf(interval) ?? []) {
        seats.addBits(block * BLOCK_SEATS, bytes);
      }
    }
  }

  #interval(): number {
    return intervalAt(this.options.clock.nowMs());
  }

  /**
   * The intervals that count now: those that counted at the end of the newest one that all nodes
   * have handed in, and those since. Of the newest two only what registered here may be known.
   */
  #intervals(): number[] {
    const interval = this.#interval();
    const handedIn = this.options.sealedTo() >= interval - 1 ? interval - 1 : interval - 2;
    return [...new Set([...windowTo(handedIn), ...windowTo(interval)])];
  }
}
