import { randomUUID } from 'node:crypto';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { createSharedChat, type SharedChat } from '../../domains/chat/chat-shared.ts';
import { createRedisSlowMode } from '../../domains/chat/slow-mode-redis.ts';
import type { Redis } from '../../storage/redis/redis.ts';
import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { createRedisPresence } from '../presence/presence-registry-redis.ts';
import { FeedFollower } from './feed-follower.ts';
import { FeedHealth } from './feed-health.ts';
import type {
  CreateRealtimeBackend,
  RealtimeBackend,
  RealtimeBackendOptions,
} from './realtime-backend.ts';
import { RedisSealCoordinator } from './seal-coordinator-redis.ts';
import { SealFailover } from './seal-failover.ts';
import { SealReporter, untilEndMs } from './seal-reporter.ts';
import { SharedSealer } from './shared-sealer.ts';

export interface RedisRealtimeOptions {
  readonly redis: Redis;
  /** Of this process, never used by another. */
  readonly nodeId: string;
}

// What is held is refused this long after a backend is known to be unavailable.
const WATCH_MS = 25;
// After the end of the last interval, for it to be sealed.
const LAST_SEALING_MS = 1_000;
const POLL_MS = 10;
const GOODBYE_MS = 250;

/** The realtime backend of one node among several: they meet in Redis, and any of them seals (SPEC N). */
export function redisRealtimeBackend({
  redis,
  nodeId,
}: RedisRealtimeOptions): CreateRealtimeBackend {
  return async (options) => {
    // A record that was begun anew must not be told of intervals that an older one sealed.
    const offered = randomUUID();
    const serviceId = await options.store.keepSecret({ name: 'service', offered });
    const parts = new RedisSealCoordinator(redis, nodeId, serviceId);
    return new RedisRealtimeBackend(redis, serviceId, parts, options).realtime;
  };
}

class RedisRealtimeBackend {
  readonly realtime: RealtimeBackend;
  private readonly trouble: FeedHealth;
  private readonly log: MemoryFeedLog;
  private readonly chat: SharedChat;
  private readonly sealer: SharedSealer;
  private readonly follower: FeedFollower;
  private readonly late: SealFailover;
  private readonly reports: SealReporter;
  private tick: Timer | null = null;
  private watch: Timer | null = null;

  constructor(
    redis: Redis,
    serviceId: string,
    private readonly parts: RedisSealCoordinator,
    private readonly options: RealtimeBackendOptions,
  ) {
    const { store, clock, logger, watermark, random, onSealed } = options;
    const redisUnavailable = () => redis.unavailable();
    const trouble = new FeedHealth(redisUnavailable, logger, () => performance.now());
    const log = new MemoryFeedLog(store, watermark, () => trouble.refusal());
    const presence = createRedisPresence({
      redis,
      clock,
      serviceId,
      sealedTo: () => log.sealedTo(),
    });
    const chat = createSharedChat({
      random,
      unavailable: () => (redisUnavailable() === null ? null : 'Redis is unavailable.'),
    });
    const follower = new FeedFollower({
      parts,
      store,
      log,
      random,
      onShown: (interval) => {
        const endedMs = clock.nowMs() - intervalStartMs(interval + 1);
        trouble.healed(interval, endedMs);
        onSealed(endedMs);
      },
      onTrouble: (error) => trouble.note(error),
    });
    const sealer = new SharedSealer({
      clock,
      store,
      log,
      logger,
      parts,
      presence,
      follower,
      random,
    });
    const late = new SealFailover({
      log,
      parts,
      sealer,
      follower,
      trouble,
      redisUnavailable,
      random,
    });
    this.trouble = trouble;
    this.log = log;
    this.chat = chat;
    this.follower = follower;
    this.late = late;
    this.sealer = sealer;
    this.reports = new SealReporter({ clock, log, parts, presence, chat, sealer, late, trouble });
    this.realtime = {
      presence,
      chat,
      turns: createRedisSlowMode({ redis, serviceId }),
      feed: log,
      share: (threads) => {
        presence.share(threads);
        log.share(threads);
      },
      noteRead: (streamId) => log.noteRead(streamId),
      begin: () => this.begin(),
      seal: () => this.seal(),
      behindMs: () => this.behindMs(),
      load: () => log.load(),
      unavailable: () => trouble.refusal(),
      drain: () => log.drain(),
      stop: () => this.stop(),
    };
  }

  private begin(): void {
    const { clock } = this.options;
    this.follower.begin();
    const tick = () => {
      // Read once: an interval that ended between two readings would wait for the next tick.
      const nowMs = clock.nowMs();
      this.tick = setTimeout(tick, untilEndMs(nowMs));
      this.log.expire(nowMs);
      void this.reports.report();
    };
    tick();
    this.watch = setInterval(() => {
      const refusal = this.trouble.refusal();
      if (refusal !== null) this.log.refuseHeld(refusal);
      // After an outage, the next tick would be late.
      else if (this.reports.isDue()) void this.reports.report();
    }, WATCH_MS);
  }

  private async seal(): Promise<void> {
    const ended = intervalAt(this.options.clock.nowMs()) - 1;
    await this.reports.report();
    const giveUpMs = performance.now() + LAST_SEALING_MS;
    while (this.log.sealedTo() < ended && performance.now() < giveUpMs) await Bun.sleep(POLL_MS);
  }

  private behindMs(): number {
    const ended = intervalAt(this.options.clock.nowMs()) - 1;
    return Math.max(0, (ended - this.log.sealedTo()) * INTERVAL_MS);
  }

  // N-13: what was accepted here is sealed before this node goes.
  private async stop(): Promise<void> {
    this.reports.leave();
    if (this.tick) await this.settle();
    if (this.tick) clearTimeout(this.tick);
    if (this.watch) clearInterval(this.watch);
    this.reports.stop();
    this.late.stop();
    this.follower.stop();
    await Promise.race([this.goodbye(), Bun.sleep(GOODBYE_MS)]);
    if (!this.chat.isEmpty())
      this.options.logger.warn('posts that could not be handed over are lost');
  }

  private async goodbye(): Promise<void> {
    // Other nodes hear from this one what it sealed.
    while (this.sealer.isBusy()) await Bun.sleep(POLL_MS);
    await this.parts.leave().catch(() => {});
  }

  private async settle(): Promise<void> {
    const nowMs = this.options.clock.nowMs();
    const giveUpMs = performance.now() + untilEndMs(nowMs) + LAST_SEALING_MS;
    while (!this.reports.isSettled(intervalAt(nowMs)) && performance.now() < giveUpMs) {
      await Bun.sleep(POLL_MS);
    }
  }
}
