import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import pino from 'pino';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { type RedisServer, startRedis } from '../../../test/support/backends/redis.ts';
import { Unavailable } from '../../platform/errors.ts';
import { openRedis } from '../../storage/redis/open-redis.ts';
import type { Redis } from '../../storage/redis/redis.ts';
import type { HandOver, Report } from './seal-coordinator.ts';
import { RedisSealCoordinator } from './seal-coordinator-redis.ts';

let server: RedisServer;
let redis: Redis;
/** An interval that ended a while ago. */
let first: number;

beforeAll(async () => {
  server = await startRedis();
  redis = await openRedis({ url: server.url, replicas: 0, logger: pino({ level: 'silent' }) });
});

afterAll(async () => {
  await redis.close();
  await server.stop();
});

beforeEach(async () => {
  await server.command('FLUSHALL');
  first = intervalAt(await redis.timeMs()) - 1_000;
});

const node = (name: string) => new RedisSealCoordinator(redis, name, 'test');
const decoder = new TextDecoder();
const part = (number: number, text = `${number}`, isRepeat = false): HandOver => ({
  number,
  isRepeat,
  bytes: new TextEncoder().encode(text),
});
const reportOf = (interval: number, more: Partial<Report> = {}): Report => ({
  interval,
  served: interval - 1,
  able: true,
  handOver: null,
  watched: [],
  ...more,
});

async function collected(parts: RedisSealCoordinator, after: number, interval: number) {
  const found = await parts.collect(after, interval, false);
  return found.parts.map((bytes) => decoder.decode(bytes));
}

describe('who seals', () => {
  test('[N-4] is the last live node that reports the interval, and nobody else', async () => {
    const [a, b, c] = [node('a'), node('b'), node('c')];
    for (const one of [a, b, c]) await one.report(reportOf(first));
    const interval = first + 1;
    expect((await b.report(reportOf(interval))).verdict).toBe('wait');
    expect((await a.report(reportOf(interval))).verdict).toBe('wait');
    expect((await c.report(reportOf(interval))).verdict).toBe('seal');
    expect((await a.report(reportOf(interval))).verdict).toBe('wait');
    expect((await a.claim(interval)).verdict).toBe('wait');
    await c.publish({ after: first, interval, bodies: [] });
    expect((await a.claim(interval)).verdict).toBe('sealed');
    expect((await b.report(reportOf(interval))).verdict).toBe('sealed');
  });

  test('[N-4] a node that cannot seal is not told to, and another one may', async () => {
    const [a, b] = [node('a'), node('b')];
    for (const one of [a, b]) await one.report(reportOf(first));
    const interval = first + 1;
    expect((await a.report(reportOf(interval))).verdict).toBe('wait');
    expect((await b.report(reportOf(interval, { able: false }))).verdict).toBe('wait');
    expect((await a.claim(interval)).verdict).toBe('seal');
  });

  test('[N-4] a sealer that does not publish is passed over after 100 ms', async () => {
    const [a, b] = [node('a'), node('b')];
    await a.report(reportOf(first));
    expect((await b.claim(first)).verdict).toBe('wait');
    const { waitMs } = await b.claim(first);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(100);
    await Bun.sleep(waitMs + 1);
    expect((await b.claim(first)).verdict).toBe('seal');
    expect((await a.claim(first)).verdict).toBe('wait');
  });

  test('[N-4] a node that is silent is passed over once, and waited for again when it is in time', async () => {
    const [a, b] = [node('a'), node('b')];
    await a.report(reportOf(first));
    await b.report(reportOf(first));
    expect((await a.report(reportOf(first + 1))).verdict).toBe('wait');
    expect((await a.claim(first + 1)).verdict).toBe('seal');
    await a.publish({ after: first, interval: first + 1, bodies: [] });
    expect((await a.report(reportOf(first + 2))).verdict).toBe('seal');
    await a.publish({ after: first + 1, interval: first + 2, bodies: [] });
    expect((await b.report(reportOf(first + 2))).verdict).toBe('sealed');
    expect((await a.report(reportOf(first + 3))).verdict).toBe('seal');
    expect((await b.report(reportOf(first + 3))).verdict).toBe('wait');
    await a.publish({ after: first + 2, interval: first + 3, bodies: [] });
    expect((await a.report(reportOf(first + 4))).verdict).toBe('wait');
    expect((await b.report(reportOf(first + 4))).verdict).toBe('seal');
  });

  test('[I-5] [N-6] a node that starts, or was held up for a moment, is waited for from then on', async () => {
    const [a, b] = [node('a'), node('b')];
    while ((await redis.timeMs()) % INTERVAL_MS > INTERVAL_MS / 2) await Bun.sleep(5);
    const ended = intervalAt(await redis.timeMs()) - 1;
    await a.report(reportOf(ended));
    await a.publish({ after: ended - 1, interval: ended, bodies: [] });
    expect((await b.report(reportOf(ended))).verdict).toBe('sealed');
    await Bun.sleep(intervalStartMs(ended + 2) - (await redis.timeMs()) + 1);
    expect((await a.report(reportOf(ended + 1))).verdict).toBe('wait');
    expect((await b.report(reportOf(ended + 1))).verdict).toBe('seal');
  });

  test('[N-13] a node that says goodbye is not waited for', async () => {
    const [a, b] = [node('a'), node('b')];
    await a.report(reportOf(first));
    await b.report(reportOf(first));
    await b.leave();
    expect((await a.report(reportOf(first + 1))).verdict).toBe('seal');
  });

  test('[N-8] [F-11] what has ended is decided by the clock of Redis', async () => {
    const leftMs = (nowMs: number) => INTERVAL_MS - (nowMs % INTERVAL_MS);
    let nowMs = await redis.timeMs();
    while (leftMs(nowMs) > 100 || leftMs(nowMs) < 50) {
      await Bun.sleep(5);
      nowMs = await redis.timeMs();
    }
    const interval = intervalAt(nowMs);
    const reply = await node('a').report(reportOf(interval, { handOver: part(1) }));
    expect(reply.verdict).toBe('early');
    expect(reply.handOver).toBeNull();
    const endMs = intervalStartMs(interval + 1);
    expect(Math.abs(nowMs + reply.waitMs - endMs)).toBeLessThan(INTERVAL_MS);
    await Bun.sleep(reply.waitMs);
    expect((await node('a').report(reportOf(interval))).verdict).toBe('seal');
  });

  test('[N-8] [K-4] a clock of Redis that was set back stops nothing: nodes do not go back', async () => {
    // Half an interval is more than a node can be off.
    while ((await redis.timeMs()) % INTERVAL_MS > INTERVAL_MS / 2 - 50) await Bun.sleep(5);
    for (const laterMs of [0, 1_000, 3_600_000]) {
      const interval = intervalAt(await redis.timeMs()) + laterMs / INTERVAL_MS;
      expect((await node('a').report(reportOf(interval))).verdict).toBe('seal');
    }
  });
});

describe('what is collected', () => {
  test('[C-6] [N-4] is what was handed over since, and the same each time: what is late goes to the next', async () => {
    const [a, b] = [node('a'), node('b')];
    await a.report(reportOf(first, { handOver: part(1, 'from a') }));
    await b.report(reportOf(first, { handOver: part(1, 'from b') }));
    expect(await collected(a, first - 1, first)).toEqual(['from a', 'from b']);
    await b.report(reportOf(first, { handOver: part(2, 'late') }));
    expect(await collected(b, first - 1, first)).toEqual(['from a', 'from b']);
    expect(await collected(a, first, first + 1)).toEqual(['late']);
  });

  test('[C-6] comes again with the next interval when its sealing failed', async () => {
    const a = node('a');
    await a.report(reportOf(first, { handOver: part(1, 'one') }));
    expect(await collected(a, first - 1, first)).toEqual(['one']);
    await a.report(reportOf(first + 1, { served: first - 1, handOver: part(2, 'two') }));
    expect(await collected(a, first - 1, first + 1)).toEqual(['one', 'two']);
    // The first sealing was done after all.
    expect(await collected(a, first, first + 1)).toEqual(['two']);
  });

  test('[C-6] is forgotten when it is sealed', async () => {
    const a = node('a');
    await a.report(reportOf(first, { handOver: part(1) }));
    await collected(a, first - 1, first);
    await collected(a, first, first + 1);
    expect(await collected(a, first - 1, first + 1)).toEqual([]);
    expect(await server.command('XLEN', 'fourbeat:{fourbeat}:test:parts')).toBe(0);
  });

  test('[N-12] [C-6] the watermark is never below what a node has served: a slow sealer takes nothing from later intervals', async () => {
    const [slow, fast] = [node('slow'), node('fast')];
    for (const loss of [
      // All of it is forgotten.
      () => server.command('FLUSHALL'),
      // Only that a later interval was collected, as on a replica that lags behind.
      () => server.command('HDEL', 'fourbeat:{fourbeat}:test:state', 'watermark'),
    ]) {
      await server.command('FLUSHALL');
      await slow.report(reportOf(first));
      await collected(fast, first - 1, first + 5);
      await loss();
      await fast.report(reportOf(first + 6, { served: first + 5, handOver: part(1, 'new') }));
      // It would be sealed by nobody: intervals up to first + 5 are.
      expect(await collected(slow, first - 1, first)).toEqual([]);
      expect(await collected(fast, first + 5, first + 6)).toEqual(['new']);
    }
  });

  test('[N-12] [K-4] nor does a clock of Redis that went back lower it', async () => {
    const a = node('a');
    const ahead = intervalAt(await redis.timeMs()) + 4 * 3_600;
    await a.report(reportOf(ahead, { served: ahead, handOver: part(1, 'new') }));
    expect(await collected(a, first - 1, first)).toEqual([]);
    expect(await collected(a, ahead, ahead + 1)).toEqual(['new']);
  });

  test('[F-27] has the streams that are watched on any node, for a count', async () => {
    const [a, b] = [node('a'), node('b')];
    const many = Array.from({ length: 2_500 }, (_, n) => `stream ${n}`);
    await a.report(reportOf(first, { watched: ['one', 'two'] }));
    await b.report(reportOf(first, { watched: ['two', ...many] }));
    const { watched } = await a.collect(first - 1, first, true);
    expect(new Set(watched)).toEqual(new Set(['one', 'two', ...many]));
    expect((await a.collect(first - 1, first, false)).watched).toEqual([]);
    await a.report(reportOf(first + 4, { watched: ['two'] }));
    expect((await a.collect(first, first + 4, true)).watched).toEqual(['two']);
  });
});

test('[N-14] what is not on the replicas that the settings ask for is not given to a sealer', async () => {
  let asked = 0;
  const lagging: Redis = {
    call: (one) => redis.call(one),
    callAll: (all) => redis.callAll(all),
    readLog: (key, id, waitMs) => redis.readLog(key, id, waitMs),
    replicated: async () => {
      asked++;
      if (asked === 1) throw new Unavailable('Too few replicas of Redis.');
    },
    timeMs: () => redis.timeMs(),
    unavailable: () => redis.unavailable(),
    close: async () => {},
  };
  const a = new RedisSealCoordinator(lagging, 'a', 'test');
  await a.report(reportOf(first, { handOver: part(1) }));
  expect(await a.collect(first - 1, first, false).catch((e) => e)).toBeInstanceOf(Unavailable);
  expect(await collected(a, first - 1, first)).toEqual(['1']);
  expect(asked).toBe(2);
});

describe('what is handed over', () => {
  test('[N-12] is taken once, however often it is sent', async () => {
    const a = node('a');
    await a.report(reportOf(first));
    expect((await a.report(reportOf(first, { handOver: part(1) }))).handOver).toBe('taken');
    expect((await a.report(reportOf(first, { handOver: part(1, '1', true) }))).handOver).toBe(
      'taken',
    );
    expect(await collected(a, first - 1, first)).toEqual(['1']);
  });

  test('[N-12] is not taken again when Redis forgot whether it had it: it may be sealed', async () => {
    const a = node('a');
    await a.report(reportOf(first));
    await a.report(reportOf(first, { handOver: part(1) }));
    await server.command('FLUSHALL');
    const repeated = reportOf(first, { handOver: part(1, '1', true) });
    expect((await a.report(repeated)).handOver).toBe('lost');
    // What was never sent is not in doubt.
    expect((await a.report(reportOf(first, { handOver: part(2) }))).handOver).toBe('taken');
    expect(await collected(a, first - 1, first)).toEqual(['2']);
  });

  test('[N-12] stays with its node when there is no room', async () => {
    const a = node('a');
    await a.report(reportOf(first));
    for (let number = 1; number <= 1_000; number++) {
      await a.report(reportOf(first, { handOver: part(number) }));
    }
    expect((await a.report(reportOf(first, { handOver: part(1_001) }))).handOver).toBe('kept');
    expect(await collected(a, first - 1, first)).toHaveLength(1_000);
    await collected(a, first, first + 1);
    expect((await a.report(reportOf(first + 1, { handOver: part(1_001) }))).handOver).toBe('taken');
  });

  test('[N-12] before a restart of Redis is dropped: its files may lack that it was sealed', async () => {
    const own = await startRedis();
    const options = { url: own.url, replicas: 0, logger: pino({ level: 'silent' }) };
    const connection = await openRedis(options);
    const a = new RedisSealCoordinator(connection, 'a', 'test');
    await a.report(reportOf(first));
    await a.report(reportOf(first, { handOver: part(1) }));
    await own.command('WAITAOF', 1, 0, 0).catch(() => Bun.sleep(1_100));
    await own.restart();
    while (connection.unavailable() !== null) await Bun.sleep(10);
    expect(await own.command('XLEN', 'fourbeat:{fourbeat}:test:parts')).toBe(1);
    expect(await collected(a, first - 1, first)).toEqual([]);
    const repeated = reportOf(first, { handOver: part(1, '1', true) });
    expect((await a.report(repeated)).handOver).toBe('lost');
    await connection.close();
    await own.stop();
  });
});

describe('the way of sealed bodies', () => {
  const bodyOf = (interval: number) => ({ streamId: 's', interval, body: `{"n":"ü${interval}"}` });
  const entry = (interval: number) => ({
    after: interval - 1,
    interval,
    bodies: [bodyOf(interval)],
  });

  test('[N-4] brings each node what it lacks, in order, and what comes while it waits', async () => {
    const [a, b] = [node('a'), node('b')];
    await a.publish(entry(first));
    await a.publish(entry(first + 1));
    expect(await b.follow(first - 1, 10)).toEqual([entry(first), entry(first + 1)]);
    expect(await b.follow(first, 10)).toEqual([entry(first + 1)]);
    expect(await b.follow(first + 1, 10)).toEqual([]);
    const waiting = b.follow(first + 1, 1_000);
    await a.publish(entry(first + 2));
    expect(await waiting).toEqual([entry(first + 2)]);
  });

  test('[I-1] [N-4] an interval that is not newer than the last is no news', async () => {
    const [a, b] = [node('a'), node('b')];
    await a.publish(entry(first + 1));
    await b.publish({ ...entry(first + 1), bodies: [] });
    await b.publish(entry(first));
    expect(await a.follow(-1, 10)).toEqual([entry(first + 1)]);
  });

  test('[N-4] is kept for a minute, and less when it is much', async () => {
    const a = node('a');
    for (let n = 0; n < 250; n++) await a.publish(entry(first + n));
    expect(await server.command('XLEN', 'fourbeat:{fourbeat}:test:log')).toBe(240);
    const body = 'x'.repeat(1_000_000);
    for (let n = 250; n < 260; n++) {
      const interval = first + n;
      const bodies = [{ streamId: 's', interval, body }];
      await a.publish({ after: interval - 1, interval, bodies });
    }
    expect(await server.command('XLEN', 'fourbeat:{fourbeat}:test:log')).toBeLessThanOrEqual(67);
  });

  test('[N-4] does not hold up Redis with much: the database has it', async () => {
    const a = node('a');
    const bodies = [{ streamId: 's', interval: first, body: 'x'.repeat(2 ** 20) }];
    await a.publish({ after: first - 1, interval: first, bodies });
    const found = await a.follow(first - 1, 10);
    expect(found).toEqual([{ after: first - 1, interval: first, bodies: null }]);
  });
});

test('[N-17] whatever is in Redis goes by itself when nobody uses it', async () => {
  const a = node('a');
  await a.report(reportOf(first, { handOver: part(1), watched: ['one'] }));
  await a.report(reportOf(first + 1, { handOver: part(1) }));
  await a.claim(first + 1);
  await a.collect(first - 1, first, true);
  await a.publish({ after: first - 1, interval: first, bodies: [] });
  const keys = (await server.command('KEYS', '*')) as string[];
  expect(keys.length).toBeGreaterThan(3);
  for (const key of keys) {
    expect(key).toStartWith('fourbeat:{fourbeat}:test:');
    expect(await server.command('PTTL', key)).toBeGreaterThan(0);
  }
});
