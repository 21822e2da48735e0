import { describe, expect, test } from 'bun:test';
import pino from 'pino';
import { Unavailable } from '../../platform/errors.ts';
import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { DatabaseRolledBack } from '../feed/sealed-sql.ts';
import { FeedHealth } from './feed-health.ts';
import type { PublicationReply, SealDecision, SealedEntry } from './seal-coordinator.ts';
import { SealFailover } from './seal-failover.ts';

const START = 7_000_000_000;

/** The failover of one node. @param claims decisions on its claims; the last one repeats */
function testFailover(claims: SealDecision[]) {
  const log = new MemoryFeedLog({ readSealed: async () => [] }, START);
  const messages: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => messages.push(JSON.parse(line).msg) });
  const health = new FeedHealth(
    () => null,
    logger,
    () => 0,
  );
  const state = {
    watermark: START,
    isUnavailable: false,
    isRedisUnavailable: false,
    /** The timeline that Redis knows. */
    timeline: '7:1',
    /** Other nodes have published what is found in the database. */
    isPublished: false,
    rollback: null as Error | null,
    isBusy: false,
    /** Sealings wait for this. */
    stall: null as Promise<void> | null,
    sealed: 0,
    databaseFailures: 0,
    claims: 0,
  };
  const published: SealedEntry[] = [];
  const timelines: string[] = [];
  const replies: (PublicationReply | null)[] = [];
  const failover = new SealFailover({
    log,
    coordinator: {
      claim: async () => {
        const decision = claims[Math.min(state.claims++, claims.length - 1)] ?? 'wait';
        return { decision, waitMs: 10 };
      },
      publish: async (entry, timeline) => {
        if (state.isRedisUnavailable) throw new Unavailable('Redis is unavailable');
        published.push(entry);
        timelines.push(timeline);
        const isPublished = state.timeline === timeline && !state.isPublished;
        return { isPublished, published: entry.interval, timeline: state.timeline };
      },
      fence: async (timeline) => {
        state.timeline = timeline;
        return timeline;
      },
    },
    sealer: {
      databaseFailed: () => void state.databaseFailures++,
      isBusy: () => state.isBusy,
      seal: async (interval) => {
        state.sealed++;
        state.isBusy = state.stall !== null;
        await state.stall;
        state.isBusy = false;
        log.append(interval, []);
      },
    },
    follower: {
      catchUp: async (publish) => {
        if (state.isUnavailable) throw new Unavailable('the database is unavailable');
        if (state.rollback) throw state.rollback;
        if (state.watermark <= log.watermark()) return false;
        const entry = { after: log.watermark(), interval: state.watermark, bodies: [] };
        const reply = await publish(entry, '7:1');
        replies.push(reply);
        if (reply === null) return false;
        log.append(state.watermark, []);
        return true;
      },
    },
    health,
    redisUnavailable: () => null,
    random: () => 0.5,
  });
  return { failover, log, health, state, published, timelines, replies, messages };
}

const until = async (isDone: () => boolean) => {
  while (!isDone()) await Bun.sleep(2);
};

describe('a reported interval', () => {
  test('[N-4] a reported interval needs nothing when it is sealed in time', async () => {
    const { failover, log, state } = testFailover(['seal']);
    failover.expect(START + 1);
    log.append(START + 1, []);
    await Bun.sleep(120);
    expect(state).toMatchObject({ claims: 0, sealed: 0 });
    failover.stop();
  });

  test('[N-4] a reported interval is sealed by the node that gets the claim', async () => {
    const { failover, log, state } = testFailover(['wait', 'wait', 'seal']);
    failover.expect(START + 1);
    await until(() => log.watermark() === START + 1);
    expect(state).toMatchObject({ claims: 3, sealed: 1 });
    failover.stop();
  });

  test('[N-4] [N-7] a reported interval is found in the database, and published, when its sealer died after the commit', async () => {
    const { failover, log, state, published } = testFailover(['wait']);
    state.watermark = START + 1;
    failover.expect(START + 1);
    await until(() => log.watermark() === START + 1);
    expect(published).toEqual([{ after: START, interval: START + 1, bodies: [] }]);
    expect(state.claims).toBe(0);
    failover.stop();
  });

  test('[I-1] [N-22] a reported interval that is found in the database is not served until it is published', async () => {
    const { failover, log, state, published } = testFailover(['wait']);
    Object.assign(state, { watermark: START + 1, isRedisUnavailable: true });
    failover.expect(START + 1);
    await until(() => state.claims > 0);
    expect(log.watermark()).toBe(START);
    state.isRedisUnavailable = false;
    await until(() => log.watermark() === START + 1);
    expect(published).toHaveLength(1);
    failover.stop();
  });

  test('[I-1] [N-22] a node that finds a reported interval learns whether other nodes have published it', async () => {
    for (const isPublished of [false, true]) {
      const { failover, log, state, timelines, replies } = testFailover(['wait']);
      Object.assign(state, { watermark: START + 1, isPublished });
      failover.expect(START + 1);
      await until(() => log.watermark() === START + 1);
      expect(replies[0]).toMatchObject({ isPublished: !isPublished, published: START + 1 });
      expect(timelines).toEqual(['7:1']);
      failover.stop();
    }
  });

  test('[N-12] a node that finds a reported interval names the timeline of the database when Redis lost it', async () => {
    const { failover, log, state } = testFailover(['wait']);
    Object.assign(state, { watermark: START + 1, timeline: '' });
    failover.expect(START + 1);
    await until(() => log.watermark() === START + 1);
    expect(state.timeline).toBe('7:1');
    failover.stop();
  });

  test('[N-4] a reported interval is not claimed by a node whose own sealing is stuck', async () => {
    const { failover, log, state } = testFailover(['seal']);
    state.isBusy = true;
    failover.expect(START + 1);
    await Bun.sleep(200);
    expect(state.claims).toBe(0);
    state.watermark = START + 1;
    await until(() => log.watermark() === START + 1);
    failover.stop();
  });

  test('[N-10] a reported interval is retried while the database is unavailable, which is logged once', async () => {
    const { failover, log, state, health, messages } = testFailover(['seal']);
    state.isUnavailable = true;
    failover.expect(START + 1);
    await until(() => health.reason() !== null);
    expect(health.reason()).toBe('the database is unavailable');
    expect(state.databaseFailures).toBeGreaterThan(0);
    expect(health.publicReason()).toBe('The database is unavailable.');
    failover.expect(START + 2);
    await Bun.sleep(500);
    expect(state.claims).toBe(0);
    state.isUnavailable = false;
    await until(() => log.watermark() === START + 2);
    expect(health.reason()).toBeNull();
    health.intervalServed(START + 2, 0);
    health.intervalServed(START + 3, 0);
    expect(messages).toEqual(['sealing is stalled', 'sealing has resumed']);
    failover.stop();
  });

  test('[N-10] a reported interval is retried when the database becomes unavailable during a sealing', async () => {
    const { failover, log, state, health } = testFailover(['seal', 'wait']);
    const stall = Promise.withResolvers<void>();
    state.stall = stall.promise;
    failover.expect(START + 1);
    await until(() => state.sealed === 1);
    state.isUnavailable = true;
    failover.expect(START + 2);
    await until(() => health.reason() !== null);
    state.isUnavailable = false;
    stall.resolve();
    await until(() => log.watermark() === START + 1);
    state.watermark = START + 2;
    await until(() => log.watermark() === START + 2);
    expect(health.reason()).toBeNull();
    failover.stop();
  });

  test('[N-10] a reported interval is awaited from other nodes for a while when only this node lacks the database', async () => {
    const { failover, log, state, health } = testFailover(['wait']);
    state.isUnavailable = true;
    failover.expect(START + 1);
    await until(() => health.reason() !== null);
    log.append(START + 1, []);
    health.intervalServed(START + 1, 0);
    await Bun.sleep(250);
    failover.expect(START + 2);
    await Bun.sleep(100);
    expect(health.reason()).toBeNull();
    await until(() => health.reason() !== null);
    failover.stop();
  });

  test('[N-22] a reported interval waits while the database lacks served intervals, which is logged once as an error', async () => {
    const { failover, log, state, health, messages } = testFailover(['seal']);
    state.rollback = new DatabaseRolledBack(START - 2, START);
    failover.expect(START + 1);
    await until(() => health.reason() !== null);
    expect(health.reason()).toContain(`${START - 2}`);
    await Bun.sleep(400);
    expect(state.claims).toBe(0);
    state.rollback = null;
    await until(() => log.watermark() === START + 1);
    expect(health.reason()).toBeNull();
    expect(messages).toEqual([expect.stringContaining('the database lost')]);
    failover.stop();
  });
});
