import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Redis } from '../../storage/redis/redis.ts';
import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import type { SharedTransientSource } from '../feed/transient-source.ts';
import { createRedisPresence } from '../presence/presence-registry-redis.ts';
import { FeedFollower } from './feed-follower.ts';
import { FeedHealth } from './feed-health.ts';
import type { RealtimeBackend, RealtimeBackendOptions } from './realtime-backend.ts';
import { RedisSealCoordinator } from './seal-coordinator-redis.ts';
import { SealFailover } from './seal-failover.ts';
import { SealReporter } from './seal-reporter.ts';
import { SharedSealer } from './shared-sealer.ts';

export interface RedisRealtimeBackendOptions extends RealtimeBackendOptions {
  readonly redis: Redis;
  /** Id of this process; no other process ever uses it. */
  readonly nodeId: string;
  /** Id of the database: separates its keys in Redis from those of other services. */
  readonly serviceId: string;
  readonly source: SharedTransientSource;
}

/** Time between checks for an outage: waiting long polls fail at most this late. */
const HEALTH_CHECK_MS = 25;
/** How long `seal` and `stop` wait for the last interval to be sealed after its end. */
const LAST_SEALING_MS = 1_000;
const POLL_MS = 10;
/** Longer than a publication takes after the end of its interval, also on a node that stalls. */
const PUBLICATION_MAX_MS = 15_000;
const LEAVE_MS = 250; // How long `stop` waits for a sealing to be published, and to leave.

/**
 * The realtime backend of one node among several. Nodes meet in Redis, and any of them seals
 * (SPEC N); `seal-coordinator.ts` describes how.
 */
export function createRedisRealtimeBackend(options: RedisRealtimeBackendOptions): RealtimeBackend {
  const { redis, store, clock, logger, watermark, onSealed } = options;
  const redisUnavailable = () => redis.unavailableReason();
  const health = new FeedHealth(redisUnavailable, logger, () => runtime.monotonicMs());
  const served = servedAtStart(watermark, clock.nowMs());
  const log = new MemoryFeedLog(store, served, () => health.publicReason());
  const presence = createRedisPresence({ ...options, watermark: () => log.watermark() });
  const coordinator = new RedisSealCoordinator(redis, options.nodeId, options.serviceId);
  const shared = { ...options, redisUnavailable, health, log, presence, coordinator };
  const follower = new FeedFollower({
    ...shared,
    onPublished: (interval) => {
      const endedAgoMs = clock.nowMs() - intervalStartMs(interval + 1);
      health.intervalServed(interval, endedAgoMs);
      onSealed(endedAgoMs);
    },
    onError: (error) => health.sealingFailed(error),
  });
  const sealer = new SharedSealer({ ...shared, follower });
  const failover = new SealFailover({ ...shared, sealer, follower });
  const reporter = new SealReporter({ ...shared, sealer, failover });
  const lifecycle = new NodeLifecycle({ ...shared, follower, failover, reporter, sealer });
  return {
    presence,
    feed: log,
    share: (threads) => {
      presence.share(threads);
      log.share(threads);
    },
    markActive: (streamId) => log.markActive(streamId),
    start: () => lifecycle.start(),
    seal: () => lifecycle.seal(),
    lagMs: () => Math.max(0, (lifecycle.endedInterval() - log.watermark()) * INTERVAL_MS),
    load: () => log.load(),
    unavailableReason: () => health.publicReason(),
    drain: () => log.drain(),
    stop: () => lifecycle.stop(),
  };
}

/**
 * The newest interval that a node serves when it starts. That of the database may not be published yet, unless it is
 * old; then the follower serves it after its publication.
 */
export function servedAtStart(watermark: number, nowMs: number): number {
  const isOld = nowMs > intervalStartMs(watermark + 1) + PUBLICATION_MAX_MS;
  return isOld || watermark < 0 ? watermark : watermark - 1;
}

interface NodeParts extends Pick<RedisRealtimeBackendOptions, 'clock' | 'logger' | 'source'> {
  readonly coordinator: RedisSealCoordinator;
  readonly follower: FeedFollower;
  readonly failover: SealFailover;
  readonly health: FeedHealth;
  readonly log: MemoryFeedLog;
  readonly reporter: SealReporter;
  readonly sealer: SharedSealer;
}

/** Runs the parts of a node by its clock, from `start` to `stop`. */
class NodeLifecycle {
  private intervalTimer: Timer | null = null;
  private healthTimer: Timer | null = null;

  constructor(private readonly parts: NodeParts) {}

  /** The newest interval that has ended. */
  endedInterval(): number {
    return intervalAt(this.parts.clock.nowMs()) - 1;
  }

  start(): void {
    const { clock, follower, health, log, reporter } = this.parts;
    follower.start();
    const tick = () => {
      // Read the clock once: an interval that ends between two reads would wait a tick.
      const nowMs = clock.nowMs();
      this.intervalTimer = runtime.setTimeout(tick, untilEndMs(nowMs));
      log.failOverdue(nowMs);
      void reporter.report();
    };
    tick();
    this.healthTimer = runtime.setInterval(() => {
      const reason = health.publicReason();
      if (reason !== null) log.failWaiters(reason);
      // After an outage, do not wait for the next tick.
      else if (reporter.isDue()) void reporter.report();
    }, HEALTH_CHECK_MS);
  }

  async seal(): Promise<void> {
    const { log, reporter } = this.parts;
    const ended = this.endedInterval();
    await reporter.report();
    const deadlineMs = runtime.monotonicMs() + LAST_SEALING_MS;
    while (log.watermark() < ended && runtime.monotonicMs() < deadlineMs)
      await runtime.sleep(POLL_MS);
  }

  // N-13: what this node accepted is sealed before it stops.
  async stop(): Promise<void> {
    const { follower, failover, reporter, source, logger } = this.parts;
    reporter.leave();
    if (this.intervalTimer) await this.settle();
    if (this.intervalTimer) runtime.clearTimer(this.intervalTimer);
    if (this.healthTimer) runtime.clearTimer(this.healthTimer);
    reporter.stop();
    failover.stop();
    follower.stop();
    await Promise.race([this.leave(), runtime.sleep(LEAVE_MS)]);
    if (source.isEmpty()) return;
    logger.warn('viewer posts could not be sent to another node and are lost');
  }

  private async leave(): Promise<void> {
    const { coordinator, sealer } = this.parts;
    // A sealing under way still has to be published.
    while (sealer.isBusy()) await runtime.sleep(POLL_MS);
    await coordinator.leave().catch(() => {});
  }

  private async settle(): Promise<void> {
    const { clock, reporter } = this.parts;
    const nowMs = clock.nowMs();
    const deadlineMs = runtime.monotonicMs() + untilEndMs(nowMs) + LAST_SEALING_MS;
    while (!reporter.isSettled(intervalAt(nowMs)) && runtime.monotonicMs() < deadlineMs) {
      await runtime.sleep(POLL_MS);
    }
  }
}

/** Time from `nowMs` until its interval ends, in ms. */
function untilEndMs(nowMs: number): number {
  return intervalStartMs(intervalAt(nowMs) + 1) - nowMs;
}
