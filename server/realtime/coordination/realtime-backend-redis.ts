import { randomUUID } from 'node:crypto';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { createSharedChat, type SharedChat } from '../../domains/chat/chat-shared.ts';
import { createRedisTurns } from '../../domains/chat/slow-mode-redis.ts';
import type { Redis } from '../../storage/redis/redis.ts';
import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { createRedisTally } from '../presence/presence-registry-redis.ts';
import { FeedFollower } from './feed-follower.ts';
import { FeedTrouble } from './feed-health.ts';
import type { Beat, BeatOptions, MakeBeat } from './realtime-backend.ts';
import { RedisIntervalParts } from './seal-coordinator-redis.ts';
import { LateSealing } from './seal-failover.ts';
import { NodeReports, untilEndMs } from './seal-reporter.ts';
import { SharedSealer } from './shared-sealer.ts';

export interface RedisBeatOptions {
  readonly redis: Redis;
  /** Of this process, never used by another. */
  readonly nodeId: string;
}

// What is held is refused this long after a backend is known to be away.
const WATCH_MS = 25;
// After the end of the last interval, for it to be sealed.
const LAST_SEALING_MS = 1_000;
const POLL_MS = 10;
const GOODBYE_MS = 250;

/** The beat of one node among several: they meet in Redis, and any of them seals (SPEC N). */
export function redisBeat({ redis, nodeId }: RedisBeatOptions): MakeBeat {
  return async (options) => {
    // A record that was begun anew must not be told of intervals that an older one sealed.
    const offered = randomUUID();
    const serviceId = await options.record.keepSecret({ name: 'service', offered });
    const parts = new RedisIntervalParts(redis, nodeId, serviceId);
    return new RedisBeat(redis, serviceId, parts, options).beat;
  };
}

class RedisBeat {
  readonly beat: Beat;
  private readonly trouble: FeedTrouble;
  private readonly log: MemoryFeedLog;
  private readonly chat: SharedChat;
  private readonly sealer: SharedSealer;
  private readonly follower: FeedFollower;
  private readonly late: LateSealing;
  private readonly reports: NodeReports;
  private tick: Timer | null = null;
  private watch: Timer | null = null;

  constructor(
    redis: Redis,
    serviceId: string,
    private readonly parts: RedisIntervalParts,
    private readonly options: BeatOptions,
  ) {
    const { record, clock, logger, watermark, random, onSealed } = options;
    const redisAway = () => redis.away();
    const trouble = new FeedTrouble(redisAway, logger, () => performance.now());
    const log = new MemoryFeedLog(record, watermark, () => trouble.refusal());
    const tally = createRedisTally({ redis, clock, serviceId, sealedTo: () => log.sealedTo() });
    const chat = createSharedChat({
      random,
      away: () => (redisAway() === null ? null : 'Redis is away.'),
    });
    const follower = new FeedFollower({
      parts,
      record,
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
      record,
      log,
      logger,
      parts,
      tally,
      follower,
      random,
    });
    const late = new LateSealing({ log, parts, sealer, follower, trouble, redisAway, random });
    this.trouble = trouble;
    this.log = log;
    this.chat = chat;
    this.follower = follower;
    this.late = late;
    this.sealer = sealer;
    this.reports = new NodeReports({ clock, log, parts, tally, chat, sealer, late, trouble });
    this.beat = {
      tally,
      chat,
      turns: createRedisTurns({ redis, serviceId }),
      feed: log,
      share: (threads) => {
        tally.share(threads);
        log.share(threads);
      },
      noteRead: (streamId) => log.noteRead(streamId),
      begin: () => this.begin(),
      seal: () => this.seal(),
      behindMs: () => this.behindMs(),
      load: () => log.load(),
      away: () => trouble.refusal(),
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
