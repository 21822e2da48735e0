import { intervalAt } from '../../protocol/interval.ts';
import type { Clock } from '../clock.ts';
import type { Redis } from '../redis/redis.ts';
import { Coalesced } from './coalesced.ts';
import { type HandedIn, windowTo } from './handed-in.ts';
import { type BlockList, countBlock, type Part } from './presence-calls.ts';
import type { SeatRing } from './seat-ring.ts';

export interface StreamCountOptions {
  readonly redis: Pick<Redis, 'callAll'>;
  readonly clock: Clock;
  /** The newest interval that all nodes have handed in, as far as is known here. */
  readonly sealedTo: () => number;
  readonly list: BlockList;
  readonly streamId: string;
  /** What registered on this node, if anything did. */
  readonly ring: () => SeatRing | undefined;
  readonly handedIn: () => HandedIn;
  /** The least rest between two calls, in ms. */
  readonly pauseMs?: number;
}

interface Answer {
  readonly value: number;
  /** The intervals that were counted. */
  readonly intervals: readonly number[];
  /** Seats that had registered here in the newest of them when the call began. */
  readonly seats: number;
  /** What was sent along. */
  readonly bytes: number;
}

// With the 250 ms after which Redis is known to be away, a count is refused within 300 ms (N-9).
const PAUSE_MS = 10;
const PAUSE_MAX_MS = 40;
/** So much is sent along in a millisecond of rest: no more than four megabytes a second. */
const BYTES_PER_MS = 4_000;

/**
 * The count of one stream over all nodes, now. However many ask, one call is under way, and the
 * next begins after a short rest. Within an interval an answer is given again until somebody
 * registers here.
 */
export class StreamCount {
  #answer: Answer | null = null;
  /** The blocks beyond the first that some node has handed in lately. */
  #further: readonly number[] = [];
  readonly #calls = new Coalesced(
    () => this.#call(),
    ({ bytes }) =>
      Math.min(PAUSE_MAX_MS, (this.options.pauseMs ?? PAUSE_MS) + bytes / BYTES_PER_MS),
  );

  constructor(private readonly options: StreamCountOptions) {}

  /** @throws Unavailable */
  async value(): Promise<number> {
    const answer = this.#answer;
    if (answer !== null && this.#isNew(answer)) return answer.value;
    return (await this.#calls.ask()).value;
  }

  /** Whether nobody asked in this interval. */
  isStale(): boolean {
    return this.#calls.isIdle() && (this.#answer?.intervals.at(-1) ?? 0) < this.#interval();
  }

  #isNew({ intervals, seats }: Answer): boolean {
    const interval = this.#interval();
    const now = this.#intervals(interval);
    return (
      intervals.at(-1) === interval &&
      intervals.length === now.length &&
      seats === this.#seats(interval)
    );
  }

  async #call(): Promise<Answer> {
    const { redis, list, streamId, ring, handedIn } = this.options;
    const interval = this.#interval();
    const intervals = this.#intervals(interval);
    const seats = this.#seats(interval);
    const own = ring();
    const known = own && handedIn();
    const missing = own && known ? known.missing(own, interval) : new Map<number, Part[]>();
    const countOf = (block: number) =>
      countBlock(streamId, block, missing.get(block) ?? [], intervals);

    const asked = new Set([0, ...this.#further, ...(known?.blocks() ?? []), ...missing.keys()]);
    const [further, ...counts] = (await redis.callAll([
      list.further(streamId),
      ...[...asked].map(countOf),
    ])) as [number[], ...number[]];
    for (const parts of missing.values()) known?.confirm(parts);
    this.#further = further;
    const rest = further.filter((block) => !asked.has(block));
    if (rest.length > 0) counts.push(...((await redis.callAll(rest.map(countOf))) as number[]));

    const value = counts.reduce((sum, count) => sum + count, 0);
    this.#answer = { value, intervals, seats, bytes: bytesOf(missing) };
    return this.#answer;
  }

  #interval(): number {
    return intervalAt(this.options.clock.nowMs());
  }

  /**
   * The intervals that count now. A viewer on another node who registers every second may be due in
   * the interval that ended last: as long as not all nodes have handed it in, one more counts.
   */
  #intervals(interval: number): number[] {
    const window = windowTo(interval);
    return this.options.sealedTo() >= interval - 1 ? window : [interval - window.length, ...window];
  }

  #seats(interval: number): number {
    return this.options.ring()?.seatsIn(interval) ?? 0;
  }
}

function bytesOf(missing: ReadonlyMap<number, readonly Part[]>): number {
  return [...missing.values()].flat().reduce((sum, { seats }) => sum + seats.bytes.length, 0);
}
