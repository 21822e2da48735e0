import { intervalAt } from '../../../protocol/interval.ts';
import type { Clock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { FunctionCall, Redis } from '../../storage/redis/redis.ts';
import {
  type Announcement,
  BlockList,
  countBlock,
  evict,
  merge,
  readBlocks,
} from './presence-commands.ts';
import type { Counts, SharedPresenceRegistry } from './presence-registry.ts';
import { PresenceRings } from './presence-rings.ts';
import { ReplicationState, windowTo } from './replication-state.ts';
import { StreamCount } from './stream-count.ts';

export interface RedisPresenceOptions {
  readonly redis: Pick<Redis, 'call' | 'callAll' | 'unavailable'>;
  readonly clock: Clock;
  /** Of the database: streams of another are not counted with those of this one. */
  readonly serviceId: string;
  /** The newest interval that all nodes have handed in, as far as is known here: the watermark. */
  readonly sealedTo: () => number;
  /** The most seats a stream can have; `SeatRing` has the default. */
  readonly maxSeats?: number;
}

/** Intervals between two published counts. */
const COUNT_INTERVALS = 4;
/** Calls in one round trip: a connection takes only so many that wait. */
const CALLS_MAX = 1_000;

/**
 * The audience over all nodes on one Redis.
 *
 * Each node registers in its own rings, without waiting. When an interval has ended it hands in the
 * bitsets of what registered in it, and Redis unites them: a seat counts once, on however many nodes
 * it is, and a seat that moves is there without a gap. Streams in which nobody registered cost
 * nothing.
 *
 * `count` is for one stream: who counted at the end of the newest interval that all nodes have
 * handed in, as in the published count, and who registered here since. Redis is asked for that once
 * in an interval. So what registered on another node is in it after 250 ms and the time of a call,
 * and an answer may be given again until the interval ends: another 250 ms. That is well within the
 * second of SPEC N-5. The moment after the end of an interval would be a wrong one to count in: a
 * heartbeat that is late by a jitter, or not handed in yet, would be missing until the next (N-6).
 */
export function createRedisPresence(options: RedisPresenceOptions): SharedPresenceRegistry {
  const { redis, clock, serviceId, maxSeats } = options;
  const list = new BlockList(serviceId);
  const rings = new PresenceRings(clock, maxSeats);
  const counts = new Map<string, StreamCount>();
  let handedIn = new Map<string, ReplicationState>();
  let announcedIn = Number.NEGATIVE_INFINITY;
  let isShared = false;

  function requireRedis(): void {
    const reason = redis.unavailable();
    if (reason !== null) throw new Unavailable(reason);
  }

  function handedInOf(streamId: string): ReplicationState {
    const found = handedIn.get(streamId) ?? new ReplicationState();
    handedIn.set(streamId, found);
    return found;
  }

  /** Redis may have lost what was handed in: all that still counts goes again. */
  function expectLoss(): void {
    handedIn = new Map();
    announcedIn = Number.NEGATIVE_INFINITY;
  }

  async function callAll(calls: readonly FunctionCall[]): Promise<unknown[]> {
    const replies: unknown[] = [];
    for (let at = 0; at < calls.length; at += CALLS_MAX) {
      replies.push(...(await redis.callAll(calls.slice(at, at + CALLS_MAX))));
    }
    return replies;
  }

  /** @returns whether what was handed in before is still there */
  async function handInTo(interval: number): Promise<boolean> {
    const { calls, blocks, confirm } = collect(interval);
    if (calls.length === 0) return true;
    const replies = await callAll(calls);
    const isListKept = blocks.length === 0 || replies.pop() === 1;
    if (replies.includes(0)) return false;
    if (!isListKept && announcedIn > interval - COUNT_INTERVALS) return false;
    confirm();
    if (blocks.length > 0) announcedIn = interval;
    return true;
  }

  function collect(interval: number) {
    const calls: FunctionCall[] = [];
    const blocks: Announcement[] = [];
    const handed: Array<() => void> = [];
    for (const [streamId, ring] of rings.entries()) {
      const known = handedInOf(streamId);
      known.expire(interval);
      const missing = known.missing(ring, interval);
      for (const [block, parts] of missing) {
        calls.push(merge(streamId, block, parts, known.newestBefore(block, interval)));
        handed.push(() => known.confirm(parts));
      }
      for (const one of known.unannounced(streamId, interval, missing)) {
        blocks.push(one);
        handed.push(() => known.announced(one));
      }
    }
    if (blocks.length > 0) calls.push(list.announce(interval, blocks));
    const confirm = () => {
      for (const one of handed) one();
    };
    return { calls, blocks, confirm };
  }

  /** Drops what is kept for streams without viewers. */
  function sweep(): void {
    rings.liveCounts();
    for (const streamId of handedIn.keys()) if (!rings.get(streamId)) handedIn.delete(streamId);
    for (const [streamId, count] of counts) if (count.isStale()) counts.delete(streamId);
  }

  async function send(interval: number): Promise<void> {
    try {
      requireRedis();
      if (await handInTo(interval)) return;
      expectLoss();
      await handInTo(interval);
    } catch (error) {
      expectLoss();
      throw error;
    } finally {
      sweep();
    }
  }

  async function countsAtEndOf(interval: number): Promise<Counts> {
    requireRedis();
    const [oldest = interval] = windowTo(interval - COUNT_INTERVALS);
    const blocks = readBlocks(await redis.call(list.since(oldest)));
    const window = windowTo(interval);
    const replies = await callAll(
      blocks.map(({ streamId, block }) => countBlock(streamId, block, window)),
    );
    const totals = new Map<string, number>();
    for (const [at, { streamId }] of blocks.entries()) {
      totals.set(streamId, (totals.get(streamId) ?? 0) + (replies[at] as number));
    }
    return totals;
  }

  function countOf(streamId: string): StreamCount {
    const found =
      counts.get(streamId) ??
      new StreamCount({
        ...options,
        list,
        streamId,
        ring: () => rings.get(streamId),
        isShared,
      });
    counts.set(streamId, found);
    return found;
  }

  return {
    register(streamId, seat, nowMs) {
      if (redis.unavailable() !== null) throw isUnavailable();
      rings.register(streamId, seat, nowMs);
      counts.get(streamId)?.add(seat);
    },
    async evict(streamId, seats) {
      rings.evict(streamId, seats);
      counts.get(streamId)?.forget();
      const now = intervalAt(clock.nowMs());
      // `count` goes by up to two intervals more than count at the end of one.
      const counted = [...new Set([...windowTo(now - 2), ...windowTo(now)])];
      try {
        await callAll(evict(streamId, seats, counted));
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
      }
    },
    async count(streamId) {
      if (redis.unavailable() !== null) throw isUnavailable();
      try {
        return await countOf(streamId).value();
      } catch (error) {
        throw error instanceof Unavailable ? isUnavailable() : error;
      }
    },
    countsAtEndOf,
    liveCounts: () => rings.liveCounts(),
    send,
    share(sharer) {
      isShared = true;
      rings.share(sharer);
    },
    unavailable: () => redis.unavailable(),
    turn: () => rings.turn(),
  };
}

// For viewers. What the reason is, addresses and all, is for the log.
function isUnavailable(): Unavailable {
  return new Unavailable('Redis is unavailable.');
}
