import { beforeEach, describe, expect, test } from 'bun:test';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { Unavailable } from '../../../server/platform/errors.ts';
import type {
  SealedEntry,
  SealReport,
} from '../../../server/realtime/coordination/seal-coordinator.ts';
import { RedisSealCoordinator } from '../../../server/realtime/coordination/seal-coordinator-redis.ts';
import type { TransientBatch } from '../../../server/realtime/feed/transient-source.ts';
import type { Redis } from '../../../server/storage/redis/redis.ts';

/** A Redis, or a model of it. */
export interface CoordinatorBackend {
  readonly server: CommandTarget;
  readonly redis: Redis;
  /** Starts another one, with an append-only file. */
  startAnother(): Promise<RestartableBackend>;
}

export interface RestartableBackend {
  readonly server: CommandTarget;
  readonly redis: Redis;
  /** Restarts it with all data that it has. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface CommandTarget {
  command(...words: (string | number)[]): Promise<unknown>;
}

/** The tests of the seal coordinator on every Redis. */
export function sealCoordinatorContract(name: string, backend: CoordinatorBackend): void {
  describe(`on ${name},`, () => testCoordinator(backend));
}

function testCoordinator({ server, redis, startAnother }: CoordinatorBackend): void {
  /** An interval that ended 250 s ago; tests report it and those after it. */
  let first: number;

  beforeEach(async () => {
    await server.command('FLUSHALL');
    first = intervalAt(await redis.timeMs()) - 1_000;
  });

  const node = (name: string) => new RedisSealCoordinator(redis, name, 'test');
  const decoder = new TextDecoder();
  const batch = (number: number, text = `${number}`, isRepeat = false): TransientBatch => ({
    number,
    isRepeat,
    bytes: new TextEncoder().encode(text),
  });
  const reportOf = (interval: number, more: Partial<SealReport> = {}): SealReport => ({
    interval,
    served: interval - 1,
    canSeal: true,
    batch: null,
    activeStreams: [],
    ...more,
  });

  const TIMELINE = '7:1';

  async function publish(coordinator: RedisSealCoordinator, entry: SealedEntry): Promise<boolean> {
    await coordinator.fence(TIMELINE);
    return (await coordinator.publish(entry, TIMELINE)).isPublished;
  }

  async function collected(coordinator: RedisSealCoordinator, after: number, interval: number) {
    const { batches } = await coordinator.collect(after, interval, false);
    return batches.map((bytes) => decoder.decode(bytes));
  }

  /** Resolves when an interval ends in 50 to 100 ms. @returns the time of Redis, Unix ms */
  async function beforeEndOfInterval(): Promise<number> {
    const untilEndMs = (nowMs: number) => INTERVAL_MS - (nowMs % INTERVAL_MS);
    let nowMs = await redis.timeMs();
    while (untilEndMs(nowMs) > 100 || untilEndMs(nowMs) < 50) {
      await Bun.sleep(5);
      nowMs = await redis.timeMs();
    }
    return nowMs;
  }

  describe('a report', () => {
    test('[N-4] the reply to a report tells the last live node to seal, and no other', async () => {
      const [a, b, c] = [node('a'), node('b'), node('c')];
      for (const each of [a, b, c]) await each.report(reportOf(first));
      const interval = first + 1;
      expect((await b.report(reportOf(interval))).decision).toBe('wait');
      expect((await a.report(reportOf(interval))).decision).toBe('wait');
      expect((await c.report(reportOf(interval))).decision).toBe('seal');
      expect((await a.report(reportOf(interval))).decision).toBe('wait');
      expect((await a.claim(interval)).decision).toBe('wait');
      await publish(c, { after: first, interval, bodies: [] });
      expect((await a.claim(interval)).decision).toBe('sealed');
      expect((await b.report(reportOf(interval))).decision).toBe('sealed');
    });

    test('[N-4] the reply to a report does not tell a node to seal that cannot, and another may claim the interval', async () => {
      const [a, b] = [node('a'), node('b')];
      for (const each of [a, b]) await each.report(reportOf(first));
      const interval = first + 1;
      expect((await a.report(reportOf(interval))).decision).toBe('wait');
      expect((await b.report(reportOf(interval, { canSeal: false }))).decision).toBe('wait');
      expect((await a.claim(interval)).decision).toBe('seal');
    });

    test('[N-4] the reply to a report gives a node 100 ms to seal; after that another may claim the interval', async () => {
      const [a, b] = [node('a'), node('b')];
      await a.report(reportOf(first));
      expect((await b.claim(first)).decision).toBe('wait');
      const { waitMs } = await b.claim(first);
      expect(waitMs).toBeGreaterThan(0);
      expect(waitMs).toBeLessThanOrEqual(100);
      await Bun.sleep(waitMs + 1);
      expect((await b.claim(first)).decision).toBe('seal');
      expect((await a.claim(first)).decision).toBe('wait');
    });

    test('[N-4] a node keeps its claim for another 100 ms, and not that of a later interval', async () => {
      const [a, b] = [node('a'), node('b')];
      await a.report(reportOf(first));
      const endMs = (await redis.timeMs()) + 150;
      while ((await redis.timeMs()) < endMs) {
        await a.keepClaim(first);
        expect((await b.claim(first)).decision).toBe('wait');
        await Bun.sleep(10);
      }
      await Bun.sleep(101);
      await a.keepClaim(first + 1);
      expect((await b.claim(first)).decision).toBe('seal');
    });

    test('[N-4] a report does not await a node that missed an interval, until that node reports in time again', async () => {
      const [a, b] = [node('a'), node('b')];
      await a.report(reportOf(first));
      await b.report(reportOf(first));
      expect((await a.report(reportOf(first + 1))).decision).toBe('wait');
      expect((await a.claim(first + 1)).decision).toBe('seal');
      await publish(a, { after: first, interval: first + 1, bodies: [] });
      expect((await a.report(reportOf(first + 2))).decision).toBe('seal');
      await publish(a, { after: first + 1, interval: first + 2, bodies: [] });
      expect((await b.report(reportOf(first + 2))).decision).toBe('sealed');
      expect((await a.report(reportOf(first + 3))).decision).toBe('seal');
      expect((await b.report(reportOf(first + 3))).decision).toBe('wait');
      await publish(a, { after: first + 2, interval: first + 3, bodies: [] });
      expect((await a.report(reportOf(first + 4))).decision).toBe('wait');
      expect((await b.report(reportOf(first + 4))).decision).toBe('seal');
    });

    test('[I-5] [N-6] a report after the sealing makes others await that node in the next interval', async () => {
      const [a, b] = [node('a'), node('b')];
      while ((await redis.timeMs()) % INTERVAL_MS > INTERVAL_MS / 2) await Bun.sleep(5);
      const ended = intervalAt(await redis.timeMs()) - 1;
      await a.report(reportOf(ended));
      await publish(a, { after: ended - 1, interval: ended, bodies: [] });
      expect((await b.report(reportOf(ended))).decision).toBe('sealed');
      await Bun.sleep(intervalStartMs(ended + 2) - (await redis.timeMs()) + 1);
      expect((await a.report(reportOf(ended + 1))).decision).toBe('wait');
      expect((await b.report(reportOf(ended + 1))).decision).toBe('seal');
    });

    test('[N-13] a report is not awaited from a node that has left', async () => {
      const [a, b] = [node('a'), node('b')];
      await a.report(reportOf(first));
      await b.report(reportOf(first));
      await b.leave();
      expect((await a.report(reportOf(first + 1))).decision).toBe('seal');
    });

    test('[N-8] [F-11] a report is early when the interval has not ended by the clock of Redis', async () => {
      const nowMs = await beforeEndOfInterval();
      const interval = intervalAt(nowMs);
      const reply = await node('a').report(reportOf(interval, { batch: batch(1) }));
      expect(reply.decision).toBe('early');
      expect(reply.batchResult).toBeNull();
      const endMs = intervalStartMs(interval + 1);
      expect(Math.abs(nowMs + reply.waitMs - endMs)).toBeLessThan(INTERVAL_MS);
      await Bun.sleep(reply.waitMs);
      expect((await node('a').report(reportOf(interval))).decision).toBe('seal');
    });

    test('[N-8] [K-4] a report is accepted when the clock of Redis was set back', async () => {
      // A node's clock is off by less than half an interval.
      while ((await redis.timeMs()) % INTERVAL_MS > INTERVAL_MS / 2 - 50) await Bun.sleep(5);
      for (const laterMs of [0, 1_000, 3_600_000]) {
        const interval = intervalAt(await redis.timeMs()) + laterMs / INTERVAL_MS;
        expect((await node('a').report(reportOf(interval))).decision).toBe('seal');
      }
    });
  });

  describe('a collection', () => {
    test('[C-6] [N-4] collecting the reports returns the same batches at each call; later batches go to the next interval', async () => {
      const [a, b] = [node('a'), node('b')];
      await a.report(reportOf(first, { batch: batch(1, 'from a') }));
      await b.report(reportOf(first, { batch: batch(1, 'from b') }));
      expect(await collected(a, first - 1, first)).toEqual(['from a', 'from b']);
      await b.report(reportOf(first, { batch: batch(2, 'late') }));
      expect(await collected(b, first - 1, first)).toEqual(['from a', 'from b']);
      expect(await collected(a, first, first + 1)).toEqual(['late']);
    });

    test('[C-6] collecting the reports repeats the batches of an interval whose sealing failed with the next interval', async () => {
      const a = node('a');
      await a.report(reportOf(first, { batch: batch(1, 'one') }));
      expect(await collected(a, first - 1, first)).toEqual(['one']);
      await a.report(reportOf(first + 1, { served: first - 1, batch: batch(2, 'two') }));
      expect(await collected(a, first - 1, first + 1)).toEqual(['one', 'two']);
      // The first sealing was committed after all.
      expect(await collected(a, first, first + 1)).toEqual(['two']);
    });

    test('[C-6] collecting the reports discards the batches of sealed intervals', async () => {
      const a = node('a');
      await a.report(reportOf(first, { batch: batch(1) }));
      await collected(a, first - 1, first);
      await collected(a, first, first + 1);
      expect(await collected(a, first - 1, first + 1)).toEqual([]);
      expect(await server.command('XLEN', 'fourbeat:{fourbeat}:test:parts')).toBe(0);
    });

    test('[N-12] [C-6] collecting the reports takes nothing from later intervals for a slow sealer, also after a loss of data', async () => {
      const [slow, fast] = [node('slow'), node('fast')];
      for (const [number, loss] of [
        // Redis loses everything.
        () => server.command('FLUSHALL'),
        // Redis loses the watermark only, as with a replica that lags.
        () => server.command('HDEL', 'fourbeat:{fourbeat}:test:state', 'watermark'),
      ].entries()) {
        await server.command('FLUSHALL');
        await slow.report(reportOf(first));
        await collected(fast, first - 1, first + 5);
        await loss();
        await fast.report(
          reportOf(first + 6, { served: first + 5, batch: batch(number + 1, 'new') }),
        );
        // Intervals up to first + 5 are sealed: the batch would be in none.
        expect(await collected(slow, first - 1, first)).toEqual([]);
        expect(await collected(fast, first + 5, first + 6)).toEqual(['new']);
      }
    });

    test('[N-12] [K-4] collecting the reports takes nothing from later intervals after the clock of Redis was set back', async () => {
      const a = node('a');
      const ahead = intervalAt(await redis.timeMs()) + 4 * 3_600;
      await a.report(reportOf(ahead, { served: ahead, batch: batch(1, 'new') }));
      expect(await collected(a, first - 1, first)).toEqual([]);
      expect(await collected(a, ahead, ahead + 1)).toEqual(['new']);
    });

    test('[F-27] collecting the reports returns the streams that are active on any node, on request', async () => {
      const [a, b] = [node('a'), node('b')];
      const many = Array.from({ length: 2_500 }, (_, n) => `stream ${n}`);
      await a.report(reportOf(first, { activeStreams: ['one', 'two'] }));
      await b.report(reportOf(first, { activeStreams: ['two', ...many] }));
      const { activeStreams } = await a.collect(first - 1, first, true);
      expect(new Set(activeStreams)).toEqual(new Set(['one', 'two', ...many]));
      expect((await a.collect(first - 1, first, false)).activeStreams).toEqual([]);
      await a.report(reportOf(first + 4, { activeStreams: ['two'] }));
      expect((await a.collect(first, first + 4, true)).activeStreams).toEqual(['two']);
    });
  });

  test('[N-22] collecting the reports returns the newest interval that a node serves', async () => {
    const [a, b] = [node('a'), node('b')];
    expect((await a.collect(first - 1, first, false)).served).toBe(-1);
    await b.report(reportOf(first, { served: first + 3 }));
    expect((await a.collect(first - 1, first, false)).served).toBe(first + 3);
    await publish(b, { after: first + 3, interval: first + 5, bodies: [] });
    expect((await a.collect(first - 1, first, true)).served).toBe(first + 5);
  });

  test('[N-22] published intervals stay while nodes report, for nodes that start', async () => {
    const [a, b] = [node('a'), node('b')];
    const entry = { after: first - 1, interval: first, bodies: [] };
    await publish(a, entry);
    await server.command('PEXPIRE', 'fourbeat:{fourbeat}:test:log', 10_000);
    await a.report(reportOf(first + 1));
    expect(await server.command('PTTL', 'fourbeat:{fourbeat}:test:log')).toBeGreaterThan(10_000);
    expect(await b.follow(first - 1, 10)).toEqual([entry]);
  });

  test('[N-14] a collection fails until the required replicas have it', async () => {
    let checks = 0;
    const lagging: Redis = {
      call: (call) => redis.call(call),
      callAll: (calls) => redis.callAll(calls),
      readLog: (key, id, waitMs) => redis.readLog(key, id, waitMs),
      waitForReplicas: async () => {
        checks++;
        if (checks === 1) throw new Unavailable('Too few replicas of Redis.');
      },
      timeMs: () => redis.timeMs(),
      unavailableReason: () => redis.unavailableReason(),
      close: async () => {},
    };
    const a = new RedisSealCoordinator(lagging, 'a', 'test');
    await a.report(reportOf(first, { batch: batch(1) }));
    expect(await a.collect(first - 1, first, false).catch((e) => e)).toBeInstanceOf(Unavailable);
    expect(await collected(a, first - 1, first)).toEqual(['1']);
    expect(checks).toBe(2);
  });

  describe('a batch', () => {
    test('[N-12] a batch of posts is collected once, however often it is sent', async () => {
      const a = node('a');
      await a.report(reportOf(first));
      expect((await a.report(reportOf(first, { batch: batch(1) }))).batchResult).toBe('accepted');
      expect((await a.report(reportOf(first, { batch: batch(1, '1', true) }))).batchResult).toBe(
        'accepted',
      );
      expect(await collected(a, first - 1, first)).toEqual(['1']);
    });

    test('[N-12] a batch of posts is lost when it is repeated after Redis lost its data: it may be sealed', async () => {
      const a = node('a');
      await a.report(reportOf(first));
      await a.report(reportOf(first, { batch: batch(1) }));
      await server.command('FLUSHALL');
      const repeated = reportOf(first, { batch: batch(1, '1', true) });
      expect((await a.report(repeated)).batchResult).toBe('lost');
      // A new batch is not affected.
      expect((await a.report(reportOf(first, { batch: batch(2) }))).batchResult).toBe('accepted');
      expect(await collected(a, first - 1, first)).toEqual(['2']);
    });

    test('[N-12] [C-6] a batch of posts is lost when it is repeated after a loss of data and a report without it', async () => {
      const a = node('a');
      await a.report(reportOf(first));
      await a.report(reportOf(first, { batch: batch(1) }));
      await server.command('FLUSHALL');
      await a.report(reportOf(first));
      const repeated = reportOf(first + 1, { batch: batch(1, '1', true) });
      expect((await a.report(repeated)).batchResult).toBe('lost');
      expect(await collected(a, first, first + 1)).toEqual([]);
    });

    test.each([false, true])(
      '[N-9] [C-6] a batch of posts is collected once when its node repeats it after a minute of silence, first with a report without it: %p',
      async (reportsFirst) => {
        const [a, b] = [node('a'), node('b')];
        await a.report(reportOf(first));
        await a.report(reportOf(first, { batch: batch(1) }));
        expect(await collected(b, first - 1, first)).toEqual(['1']);
        // The report of another node forgets `a`, and the batch leaves Redis once it is sealed.
        const nodes = 'fourbeat:{fourbeat}:test:nodes';
        await server.command('HSET', nodes, 'a', `${first}:1000:1:1`);
        await b.report(reportOf(first + 1));
        expect(await server.command('HGET', nodes, 'a')).toBeNull();
        expect(await collected(b, first, first + 1)).toEqual([]);
        if (reportsFirst) await a.report(reportOf(first + 2));
        const repeated = reportOf(first + 2, { batch: batch(1, '1', true) });
        expect((await a.report(repeated)).batchResult).toBe('accepted');
        // A new batch is not affected.
        await a.report(reportOf(first + 2, { batch: batch(2) }));
        expect(await collected(b, first + 1, first + 2)).toEqual(['2']);
      },
    );

    test('[N-9] a batch of posts that was rejected is accepted after a minute of silence', async () => {
      const a = node('a');
      const megabytes = 'x'.repeat(4 * 2 ** 20);
      await a.report(reportOf(first));
      await a.report(reportOf(first, { batch: batch(1, megabytes) }));
      const rejected = await a.report(reportOf(first, { batch: batch(2) }));
      expect(rejected.batchResult).toBe('rejected');
      await server.command('DEL', 'fourbeat:{fourbeat}:test:nodes');
      await collected(a, first - 1, first);
      await collected(a, first, first + 1);
      await a.report(reportOf(first + 2, { batch: batch(2) }));
      expect(await collected(a, first + 1, first + 2)).toEqual(['2']);
    });

    test('[N-9] a batch of posts that came too early is accepted after a minute of silence', async () => {
      const a = node('a');
      await a.report(reportOf(first));
      const current = intervalAt(await beforeEndOfInterval());
      expect((await a.report(reportOf(current, { batch: batch(1) }))).decision).toBe('early');
      await server.command('DEL', 'fourbeat:{fourbeat}:test:nodes');
      await a.report(reportOf(first + 1, { batch: batch(1, '1', true) }));
      expect(await collected(a, first, first + 1)).toEqual(['1']);
    });

    test('[N-12] a batch of posts is rejected when Redis has no room', async () => {
      const a = node('a');
      await a.report(reportOf(first));
      for (let number = 1; number <= 1_000; number++) {
        await a.report(reportOf(first, { batch: batch(number) }));
      }
      expect((await a.report(reportOf(first, { batch: batch(1_001) }))).batchResult).toBe(
        'rejected',
      );
      expect(await collected(a, first - 1, first)).toHaveLength(1_000);
      await collected(a, first, first + 1);
      expect((await a.report(reportOf(first + 1, { batch: batch(1_001) }))).batchResult).toBe(
        'accepted',
      );
    });

    test('[N-10] a batch of posts is rejected while 4 MB wait, so that one reply has all of them', async () => {
      const a = node('a');
      const megabyte = 'x'.repeat(2 ** 20);
      const post = async (interval: number, number: number, text: string) =>
        (await a.report(reportOf(interval, { batch: batch(number, text) }))).batchResult;
      await a.report(reportOf(first));
      for (let number = 1; number <= 4; number++) {
        expect(await post(first, number, megabyte)).toBe('accepted');
      }
      expect(await post(first, 5, 'fifth')).toBe('rejected');
      expect(await collected(a, first - 1, first)).toHaveLength(4);
      expect(await post(first, 5, 'fifth')).toBe('rejected');
      // They are sealed, so there is room again.
      expect(await collected(a, first, first + 1)).toEqual([]);
      expect(await post(first + 1, 5, 'fifth')).toBe('accepted');
      expect(await collected(a, first + 1, first + 2)).toEqual(['fifth']);
    });

    test('[N-12] a batch of posts is dropped when Redis restarts: its files may be older than the sealing', async () => {
      const restarted = await startAnother();
      const a = new RedisSealCoordinator(restarted.redis, 'a', 'test');
      await a.report(reportOf(first));
      await a.report(reportOf(first, { batch: batch(1) }));
      await restarted.restart();
      while (restarted.redis.unavailableReason() !== null) await Bun.sleep(10);
      expect(await restarted.server.command('XLEN', 'fourbeat:{fourbeat}:test:parts')).toBe(1);
      expect(await collected(a, first - 1, first)).toEqual([]);
      const repeated = reportOf(first, { batch: batch(1, '1', true) });
      expect((await a.report(repeated)).batchResult).toBe('lost');
      await restarted.stop();
    });
  });

  describe('a publication', () => {
    const bodyOf = (interval: number) => ({
      streamId: 's',
      interval,
      body: `{"n":"ü${interval}"}`,
    });
    const entry = (interval: number) => ({
      after: interval - 1,
      interval,
      bodies: [bodyOf(interval)],
    });

    test('[N-4] a publication reaches each node in order, also one that waits', async () => {
      const [a, b] = [node('a'), node('b')];
      await publish(a, entry(first));
      await publish(a, entry(first + 1));
      expect(await b.follow(first - 1, 10)).toEqual([entry(first), entry(first + 1)]);
      expect(await b.follow(first, 10)).toEqual([entry(first + 1)]);
      expect(await b.follow(first + 1, 10)).toEqual([]);
      const waiting = b.follow(first + 1, 1_000);
      await publish(a, entry(first + 2));
      expect(await waiting).toEqual([entry(first + 2)]);
    });

    test('[I-1] [N-4] a publication with an interval that is published already is ignored', async () => {
      const [a, b] = [node('a'), node('b')];
      expect(await publish(a, entry(first + 1))).toBe(true);
      expect(await publish(b, { ...entry(first + 1), bodies: [] })).toBe(false);
      expect(await publish(b, entry(first))).toBe(false);
      expect(await publish(b, { after: first, interval: first + 2, bodies: [] })).toBe(false);
      expect(await a.follow(-1, 10)).toEqual([entry(first + 1)]);
    });

    test('[I-1] [N-22] a publication is refused unless it is of the timeline of the database on which nodes seal', async () => {
      const a = node('a');
      const refused = { isPublished: false, published: -1 };
      expect(await a.publish(entry(first), '7:2')).toEqual({ ...refused, timeline: '' });
      await a.fence('7:2');
      for (const timeline of ['', '7:1', '7:3', '8:2']) {
        expect(await a.publish(entry(first), timeline)).toEqual({ ...refused, timeline: '7:2' });
      }
      expect(await a.follow(-1, 10)).toEqual([]);
      const reply = await a.publish(entry(first), '7:2');
      expect(reply).toEqual({ isPublished: true, published: first, timeline: '7:2' });
    });

    test('[N-22] the timeline of the database is the latest that nodes named, and that of another database replaces it', async () => {
      const a = node('a');
      const named = async () => (await a.collect(first - 1, first, false)).timeline;
      expect(await named()).toBe('');
      for (const [timeline, expected] of [
        ['7:9', '7:9'],
        ['7:8', '7:9'],
        ['7:10', '7:10'],
        ['8:1', '8:1'],
        ['', ''],
        ['7:1', '7:1'],
      ] as const) {
        expect([await a.fence(timeline), await named()]).toEqual([expected, expected]);
      }
    });

    test('[N-4] a publication returns its interval when Redis evicted all but the log of publications', async () => {
      const a = node('a');
      await publish(a, entry(first));
      await server.command('DEL', 'fourbeat:{fourbeat}:test:state');
      await a.fence(TIMELINE);
      const reply = await a.publish(entry(first), TIMELINE);
      expect(reply).toEqual({ isPublished: false, published: first, timeline: TIMELINE });
    });

    test('[I-1] [N-12] a publication is refused after Redis was restarted, until a node names the timeline again', async () => {
      const restarted = await startAnother();
      const a = new RedisSealCoordinator(restarted.redis, 'a', 'test');
      expect(await publish(a, entry(first))).toBe(true);
      await restarted.restart();
      const next = () => a.publish(entry(first + 1), TIMELINE).catch(() => null);
      let reply = await next();
      while (reply === null) reply = await Bun.sleep(5).then(next);
      expect(reply).toEqual({ isPublished: false, published: first, timeline: '' });
      expect(await publish(a, entry(first + 1))).toBe(true);
      await restarted.stop();
    });

    test('[N-4] a publication that is refused returns the newest published interval', async () => {
      const a = node('a');
      await publish(a, entry(first + 1));
      const range = { after: first - 1, interval: first + 5, bodies: [] };
      const reply = await a.publish(range, TIMELINE);
      expect(reply).toEqual({ isPublished: false, published: first + 1, timeline: TIMELINE });
    });

    test('[N-4] a publication is kept for a minute, or less when bodies are large', async () => {
      const a = node('a');
      for (let n = 0; n < 250; n++) await publish(a, entry(first + n));
      expect(await server.command('XLEN', 'fourbeat:{fourbeat}:test:log')).toBe(240);
      const body = 'x'.repeat(1_000_000);
      for (let n = 250; n < 260; n++) {
        const interval = first + n;
        const bodies = [{ streamId: 's', interval, body }];
        await publish(a, { after: interval - 1, interval, bodies });
      }
      expect(await server.command('XLEN', 'fourbeat:{fourbeat}:test:log')).toBeLessThanOrEqual(67);
    });

    test('[N-4] a publication leaves out large bodies, which nodes read from the database', async () => {
      const a = node('a');
      const bodies = [{ streamId: 's', interval: first, body: 'x'.repeat(2 ** 20) }];
      await publish(a, { after: first - 1, interval: first, bodies });
      const entries = await a.follow(first - 1, 10);
      expect(entries).toEqual([{ after: first - 1, interval: first, bodies: null }]);
    });
  });

  test('[N-17] every key in Redis has a time to live', async () => {
    const a = node('a');
    await a.fence(TIMELINE);
    expect(await server.command('PTTL', 'fourbeat:{fourbeat}:test:state')).toBeGreaterThan(0);
    await a.report(reportOf(first, { batch: batch(1), activeStreams: ['one'] }));
    await a.report(reportOf(first + 1, { batch: batch(1) }));
    await a.claim(first + 1);
    await a.collect(first - 1, first, true);
    await publish(a, { after: first - 1, interval: first, bodies: [] });
    const keys = (await server.command('KEYS', '*')) as string[];
    expect(keys.length).toBeGreaterThan(3);
    for (const key of keys) {
      expect(key).toStartWith('fourbeat:{fourbeat}:test:');
      expect(await server.command('PTTL', key)).toBeGreaterThan(0);
    }
  });
}
