import { intervalAt } from '../../../protocol/interval.ts';
import { Unavailable } from '../../platform/errors.ts';
import { Pace } from '../../platform/pace.ts';
import type { FunctionCall, Redis } from '../../storage/redis/redis.ts';
import {
  ActiveBlocks,
  type Announcement,
  countBlock,
  evict,
  merge,
  readBlocks,
} from './presence-commands.ts';
import type { Counts, PresenceOptions, SharedPresenceRegistry } from './presence-registry.ts';
import { PresenceRings } from './presence-rings.ts';
import { ReplicationState, windowTo } from './replication-state.ts';
import { StreamCount } from './stream-count.ts';

export interface RedisPresenceOptions extends PresenceOptions {
  readonly redis: Pick<Redis, 'call' | 'callAll' | 'unavailableReason'>;
  /** Id of the service, stored in the database; separates the keys of services that share a Redis. */
  readonly serviceId: string;
  /** The newest interval that all nodes are known to have replicated. */
  readonly watermark: () => number;
}

/** Intervals between two published counts. */
const COUNT_INTERVALS = 4;
/**
 * Pauses after a scan of a ring, in times of its length. A scan takes 1.2 ms for a million seats, so reads
 * of counts take at most a tenth of the thread, and usually wait at most 12 ms.
 */
const SCAN_PAUSES = 9;
/** Most calls per round trip, which bounds the calls that wait on a connection. */
const CALLS_MAX = 1_000;

/**
 * Presence over all nodes on one Redis.
 *
 * Each node registers in its own rings, without waiting. When an interval has ended, it replicates
 * the bitsets of that interval, and Redis merges them: a seat on several nodes counts once, and a seat
 * that moves between nodes counts without a gap. Streams without registrations cost nothing.
 *
 * `count` is for one stream: the seats that counted at the end of the newest interval that all nodes
 * have replicated, as in the published count, and those that registered on this node since. It reads
 * Redis once per interval. A registration on another node is included after 250 ms and a round trip,
 * and a result is reused until the interval ends, another 250 ms: well within the second of SPEC N-5.
 * Counting right after the end of an interval would be wrong: a heartbeat that is late by its timer's
 * jitter, or not replicated yet, would be missing until the next count (N-6).
 */
export function createRedisPresence(options: RedisPresenceOptions): SharedPresenceRegistry {
  const { redis, clock, serviceId } = options;
  const activeBlocks = new ActiveBlocks(serviceId);
  const rings = new PresenceRings(options);
  const counts = new Map<string, StreamCount>();
  const pace = new Pace(SCAN_PAUSES);
  let states = new Map<string, ReplicationState>();
  /** The newest interval in which this node announced blocks. */
  let announcedIn = Number.NEGATIVE_INFINITY;
  let isShared = false;

  function requireRedis(): void {
    const reason = redis.unavailableReason();
    if (reason !== null) throw new Unavailable(reason);
  }

  function stateOf(streamId: string): ReplicationState {
    const state = states.get(streamId) ?? new ReplicationState();
    states.set(streamId, state);
    return state;
  }

  /** Redis may have lost data: the next replication sends everything that still counts. */
  function forgetReplicated(): void {
    states = new Map();
    announcedIn = Number.NEGATIVE_INFINITY;
  }

  async function callAll(calls: readonly FunctionCall[]): Promise<unknown[]> {
    const replies: unknown[] = [];
    for (let at = 0; at < calls.length; at += CALLS_MAX) {
      replies.push(...(await redis.callAll(calls.slice(at, at + CALLS_MAX))));
    }
    return replies;
  }

  /** @returns false when Redis has lost what was replicated before */
  async function replicateTo(interval: number): Promise<boolean> {
    const { calls, announcements, confirm } = collectMissing(interval);
    if (calls.length === 0) return true;
    const replies = await callAll(calls);
    const listExisted = announcements.length === 0 || replies.pop() === 1;
    if (replies.includes(0)) return false;
    if (!listExisted && announcedIn > interval - COUNT_INTERVALS) return false;
    confirm();
    if (announcements.length > 0) announcedIn = interval;
    return true;
  }

  function collectMissing(interval: number) {
    const calls: FunctionCall[] = [];
    const announcements: Announcement[] = [];
    const confirmations: Array<() => void> = [];
    for (const [streamId, ring] of rings.entries()) {
      const state = stateOf(streamId);
      state.expire(interval);
      const missing = state.missing(ring, interval);
      for (const [block, bitsets] of missing) {
        calls.push(merge(streamId, block, bitsets, state.newestBefore(block, interval)));
        confirmations.push(() => state.confirm(bitsets));
      }
      for (const announcement of state.unannounced(streamId, interval, missing)) {
        announcements.push(announcement);
        confirmations.push(() => state.announced(announcement));
      }
    }
    if (announcements.length > 0) calls.push(activeBlocks.announce(interval, announcements));
    const confirm = () => {
      for (const confirmOne of confirmations) confirmOne();
    };
    return { calls, announcements, confirm };
  }

  /** Drops the state of streams without viewers. */
  function sweep(): void {
    rings.liveCounts(); // Drops empty rings.
    for (const streamId of states.keys()) if (!rings.get(streamId)) states.delete(streamId);
    for (const [streamId, count] of counts) if (count.isStale()) counts.delete(streamId);
  }

  async function replicate(interval: number): Promise<void> {
    try {
      requireRedis();
      if (await replicateTo(interval)) return;
      forgetReplicated();
      await replicateTo(interval);
    } catch (error) {
      forgetReplicated();
      throw error;
    } finally {
      sweep();
    }
  }

  async function countsAtEndOf(interval: number): Promise<Counts> {
    requireRedis();
    const [oldest = interval] = windowTo(interval - COUNT_INTERVALS);
    const blocks = readBlocks(await redis.call(activeBlocks.since(oldest)));
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
    const existing = counts.get(streamId);
    if (existing) return existing;
    const ring = () => rings.get(streamId);
    const count = new StreamCount({ ...options, activeBlocks, streamId, ring, isShared, pace });
    counts.set(streamId, count);
    return count;
  }

  return {
    register(streamId, seat, nowMs) {
      if (redis.unavailableReason() !== null) throw redisUnavailable();
      if (rings.register(streamId, seat, nowMs)) counts.get(streamId)?.add(seat);
    },
    async evict(streamId, seats) {
      rings.evict(streamId, seats);
      const now = intervalAt(clock.nowMs());
      // `count` also reads up to two intervals before the current window.
      const intervals = [...new Set([...windowTo(now - 2), ...windowTo(now)])];
      try {
        await callAll(evict(streamId, seats, intervals));
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
      } finally {
        counts.get(streamId)?.forget();
      }
    },
    async count(streamId) {
      if (redis.unavailableReason() !== null) throw redisUnavailable();
      try {
        return await countOf(streamId).value();
      } catch (error) {
        throw error instanceof Unavailable ? redisUnavailable() : error;
      }
    },
    countsAtEndOf,
    liveCounts: () => rings.liveCounts(),
    replicate,
    share(listener) {
      isShared = true;
      rings.share(listener);
    },
    unavailableReason: () => redis.unavailableReason(),
    advance: () => rings.advance(),
  };
}

// For viewers: without the reason, which contains addresses.
function redisUnavailable(): Unavailable {
  return new Unavailable('Redis is unavailable.');
}
