import { intervalAt } from '../../../protocol/interval.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Pace } from '../../platform/pace.ts';
import type { Redis } from '../../storage/redis/redis.ts';
import { type ActiveBlocks, uniteBlock } from './presence-commands.ts';
import { BLOCK_SEATS, type PresenceRing } from './presence-ring.ts';
import { windowTo } from './replication-state.ts';
import { SeatSet } from './seat-set.ts';

export interface StreamCountOptions {
  readonly redis: Pick<Redis, 'callAll'>;
  readonly clock: Clock;
  /** The newest interval that all nodes are known to have replicated. */
  readonly watermark: () => number;
  readonly activeBlocks: ActiveBlocks;
  readonly streamId: string;
  /** The ring of the stream on this node; undefined without registrations. */
  readonly ring: () => PresenceRing | undefined;
  /** Whether other threads of this node register without calling `add`. */
  readonly isShared: boolean;
  /** For scans of the rings of all streams. */
  readonly pace: Pace;
}

/** The seats of some intervals: those that all nodes replicated, and those on this node. */
interface Snapshot {
  /** The number of calls of `forget` before it was read. */
  readonly generation: number;
  readonly intervals: readonly number[];
  readonly seats: SeatSet;
}

/**
 * The count of one stream over all nodes, now. It reads Redis once per interval, however many viewers
 * read the count, and once more when all nodes have replicated the interval before. In between it
 * adds the registrations on this node.
 */
export class StreamCount {
  #snapshot: Snapshot | null = null;
  #fetching: Promise<Snapshot> | null = null;
  #generation = 0;
  /** A scan of the ring that has not begun. */
  #scan: Promise<void> | null = null;
  /** Active blocks of the stream beyond the first. */
  #further: readonly number[] = [];

  constructor(private readonly options: StreamCountOptions) {}

  /** A seat registered on this node. */
  add(seat: number): void {
    this.#snapshot?.seats.add(seat);
  }

  /** Discards what was read from Redis, and what is being read, after a change there. */
  forget(): void {
    this.#generation += 1;
    this.#snapshot = null;
  }

  /** The current count. @throws Unavailable while Redis is unavailable */
  async value(): Promise<number> {
    const requested = this.#interval();
    for (;;) {
      await this.#read(requested);
      if (this.options.isShared) await this.#addThreads();
      // After an eviction the seats are read again.
      if (this.#snapshot !== null) return this.#snapshot.seats.size;
    }
  }

  /** Whether nobody read the count in this interval. */
  isStale(): boolean {
    const isIdle = this.#fetching === null && this.#scan === null;
    return isIdle && (this.#snapshot?.intervals.at(-1) ?? 0) < this.#interval();
  }

  /** Reads Redis, unless the snapshot is current. */
  async #read(requested: number): Promise<void> {
    if (this.#snapshot !== null && this.#isCurrent(this.#snapshot)) return;
    for (;;) {
      this.#fetching ??= this.#fetch().finally(() => {
        this.#fetching = null;
      });
      const { intervals } = await this.#fetching;
      // A read that began in an earlier interval lacks later registrations on this node.
      if ((intervals.at(-1) as number) >= requested) return;
    }
  }

  #isCurrent({ intervals }: Snapshot): boolean {
    const now = this.#intervals();
    return intervals.length === now.length && intervals.at(-1) === now.at(-1);
  }

  async #fetch(): Promise<Snapshot> {
    const { redis, activeBlocks, streamId } = this.options;
    const generation = this.#generation;
    const intervals = this.#intervals();
    const blocks = [0, ...this.#further];
    const unite = (block: number) => uniteBlock(streamId, block, intervals);
    const [further, ...bitsets] = (await redis.callAll([
      activeBlocks.further(streamId),
      ...blocks.map(unite),
    ])) as [number[], ...Uint8Array[]];
    const unread = further.filter((block) => !blocks.includes(block));
    if (unread.length > 0) {
      bitsets.push(...((await redis.callAll(unread.map(unite))) as Uint8Array[]));
    }
    this.#further = further;
    const seats = new SeatSet();
    for (const [at, block] of [...blocks, ...unread].entries()) {
      seats.addBits(block * BLOCK_SEATS, bitsets[at] as Uint8Array);
    }
    this.#addLocal(seats, windowTo(intervals.at(-1) as number));
    const snapshot = { generation, intervals, seats };
    if (generation === this.#generation) this.#snapshot = snapshot;
    return snapshot;
  }

  /** Adds what other threads have registered by now. Calls that wait share one scan. */
  #addThreads(): Promise<void> {
    const scan = async () => {
      this.#scan = null;
      // Other threads may be ahead of this one by an interval.
      const now = this.#interval();
      if (this.#snapshot !== null) this.#addLocal(this.#snapshot.seats, [now - 1, now, now + 1]);
    };
    this.#scan ??= Promise.resolve().then(() => this.options.pace.step(scan));
    return this.#scan;
  }

  // Runs without awaiting before the snapshot is stored: from then on `add` keeps it up to date.
  #addLocal(seats: SeatSet, intervals: readonly number[]): void {
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
   * The intervals that count now: the window of the newest one that all nodes have replicated, and
   * those since. Of the newest two, registrations on other nodes may be missing.
   */
  #intervals(): number[] {
    const interval = this.#interval();
    const replicated = this.options.watermark() >= interval - 1 ? interval - 1 : interval - 2;
    return [...new Set([...windowTo(replicated), ...windowTo(interval)])];
  }
}
