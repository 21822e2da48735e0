import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { Client } from 'pg';
import { intervalAt } from '../../../protocol/interval.ts';
import { type PostgresServer, startPostgres } from '../../../test/support/backends/postgres.ts';
import { type RedisServer, startRedis } from '../../../test/support/backends/redis.ts';
import {
  type FeedFixture,
  type FeedNode,
  openSharedFixture,
} from '../../../test/support/feed/feed-fixture.ts';
import { FeedRecorder } from '../../../test/support/feed/feed-recorder.ts';
import { Unavailable } from '../../platform/errors.ts';

// Three nodes on one Redis and one PostgreSQL, in real time, while something breaks.

let redis: RedisServer;
let postgres: PostgresServer;
let fixture: FeedFixture;
let witness: FeedRecorder;
let databaseUrl: string;
let databases = 0;

beforeAll(async () => {
  [redis, postgres] = await Promise.all([startRedis(), startPostgres({ fsync: false })]);
});
afterAll(async () => {
  await Promise.all([redis.stop(), postgres.stop()]);
});

beforeEach(async () => {
  await redis.command('FLUSHALL');
  databaseUrl = await postgres.createDatabase(`many_nodes_${++databases}`);
  fixture = await openSharedFixture({ redisUrl: redis.url, databaseUrl, nodes: 3 });
  witness = await FeedRecorder.of(fixture);
  await Bun.sleep(1_000);
});
afterEach(() => fixture.close());

const first = () => fixture.nodes[0] as FeedNode;
const HELD_503_MS = 300;
// Until the end of the interval that was under way, and until silence says something.
const REFUSED_MS = 1_000;
const WELL_MS = 2_000;

/** How long until every node serves again, in ms. */
async function untilWell(): Promise<number> {
  const fromMs = performance.now();
  await witness.isWell();
  return performance.now() - fromMs;
}

/**
 * Asks each node for an interval that ends in a second or later. @returns how long until the 503 of
 * each, in ms; what is only late (F-9) would take 1,750 ms and more
 */
function refusals(): Promise<number[]> {
  const askedMs = performance.now();
  return Promise.all(
    fixture.nodes.map(async ({ realtime, clock }) => {
      const held = async () => realtime.feed.read(witness.streamId, intervalAt(clock.nowMs()) + 4);
      const error = await held().catch((e) => e);
      expect(error).toBeInstanceOf(Unavailable);
      return performance.now() - askedMs;
    }),
  );
}

describe('nothing that was served changes, every event comes once and no post twice', () => {
  test('[N-4] [C-6] when all is well: an event and a post on one node are seen on all', async () => {
    await Bun.sleep(1_000);
    await witness.end(fixture.nodes, 'nothing');
    expect(witness.answers.filter(({ refused }) => refused)).toEqual([]);
  });

  test('[N-4] when the database answers one node’s sealings late, or never', async () => {
    for (const manner of ['before', 'after'] as const) {
      const stall = Promise.withResolvers<void>();
      first().manners[manner] = stall.promise;
      await Bun.sleep(700);
      const { realtime, clock } = first();
      // Others seal, and the node follows them.
      expect(intervalAt(clock.nowMs()) - 1 - realtime.feed.sealedTo()).toBeLessThanOrEqual(2);
      first().manners[manner] = null;
      stall.resolve();
      await Bun.sleep(300);
    }
    await witness.end(fixture.nodes, 'nothing');
  });

  test('[N-7] [N-4] when a node dies', async () => {
    await first().drop();
    const well = fixture.nodes.slice(1);
    for (let step = 0; step < 10; step++) {
      await Bun.sleep(100);
      for (const { realtime, clock } of well) {
        expect(intervalAt(clock.nowMs()) - 1 - realtime.feed.sealedTo()).toBeLessThanOrEqual(2);
      }
    }
    const late = await fixture.openNode();
    witness.watch(late);
    await Bun.sleep(500);
    await witness.end([...well, late], 'posts');
  });

  test('[N-13] when nodes are restarted one after the other: no post is lost', async () => {
    for (const node of [...fixture.nodes]) {
      witness.watch(await fixture.openNode());
      (fixture.nodes as FeedNode[]).splice(fixture.nodes.indexOf(node), 1);
      await node.stop();
    }
    await Bun.sleep(300);
    await witness.end(fixture.nodes, 'nothing');
  });

  test('[N-12] [N-9] when Redis is killed and started again', async () => {
    await redis.kill9();
    await Bun.sleep(700);
    await redis.restart();
    expect(await untilWell()).toBeLessThan(WELL_MS);
    await Bun.sleep(500);
    await witness.end(fixture.nodes, 'posts');
  });

  test('[N-12] when Redis forgets everything, again and again', async () => {
    for (let time = 0; time < 8; time++) {
      await redis.command('FLUSHALL');
      await Bun.sleep(130 + 40 * time);
    }
    expect(await untilWell()).toBeLessThan(WELL_MS);
    await witness.end(fixture.nodes, 'posts');
  });

  test('[N-9] when Redis is halted: what is not sealed is 503, and what is sealed goes on', async () => {
    redis.pause();
    const refused = refusals();
    await Bun.sleep(600);
    for (const ms of await refused) expect(ms).toBeLessThan(REFUSED_MS);
    for (const { realtime, clock } of fixture.nodes) {
      const interval = intervalAt(clock.nowMs());
      expect(() => realtime.feed.read(witness.streamId, interval)).toThrow(Unavailable);
      expect(() => realtime.chat.hearts(witness.streamId, 1)).toThrow(Unavailable);
      expect(() => realtime.presence.register(witness.streamId, 1)).toThrow(Unavailable);
      expect(realtime.feed.read(witness.streamId, realtime.feed.sealedTo())).toBeInstanceOf(
        Uint8Array,
      );
      expect(realtime.unavailable()).not.toBeNull();
    }
    const knownMs = performance.now();
    await Bun.sleep(1_000);
    redis.resume();
    expect(await untilWell()).toBeLessThan(WELL_MS);
    const slow = witness.answers.filter((answer) => answer.atMs > knownMs && answer.refused);
    expect(slow.length).toBeGreaterThan(0);
    for (const { tookMs } of slow) expect(tookMs).toBeLessThan(HELD_503_MS);
    await Bun.sleep(300);
    await witness.end(fixture.nodes, 'posts');
  });

  for (const [name, stop, start] of [
    ['halted', () => postgres.pause(), () => postgres.resume()],
    ['killed', () => postgres.kill9(), () => postgres.start()],
  ] as const) {
    test(`[N-10] [C-6] when PostgreSQL is ${name}: what is not sealed is 503, and posts are kept`, async () => {
      const stopped = stop();
      const refused = refusals();
      await stopped;
      await Bun.sleep(1_000);
      for (const ms of await refused) expect(ms).toBeLessThan(REFUSED_MS);
      for (const { realtime, clock } of fixture.nodes) {
        const interval = intervalAt(clock.nowMs());
        expect(() => realtime.feed.read(witness.streamId, interval)).toThrow(Unavailable);
        expect(realtime.feed.read(witness.streamId, realtime.feed.sealedTo())).toBeInstanceOf(
          Uint8Array,
        );
        expect(realtime.unavailable()).not.toBeNull();
        realtime.presence.register(witness.streamId, 1);
        expect(await realtime.presence.count(witness.streamId)).toBe(1);
      }
      const knownMs = performance.now();
      await Bun.sleep(1_500);
      await start();
      expect(await untilWell()).toBeLessThan(WELL_MS);
      const slow = witness.answers.filter((answer) => answer.atMs > knownMs && answer.refused);
      expect(slow.length).toBeGreaterThan(0);
      for (const { tookMs } of slow) expect(tookMs).toBeLessThan(HELD_503_MS);
      await Bun.sleep(300);
      await witness.end(fixture.nodes, 'lines');
    });
  }

  test('[N-10] [N-7] when PostgreSQL is halted under a sealing by the only node left', async () => {
    const [last, ...others] = fixture.nodes as FeedNode[];
    const stall = Promise.withResolvers<void>();
    (last as FeedNode).manners.before = stall.promise;
    const dropped = Promise.all(others.map((node) => node.drop()));
    (fixture.nodes as FeedNode[]).splice(1);
    await Bun.sleep(600);
    postgres.pause();
    first().manners.before = null;
    stall.resolve();
    await Bun.sleep(1_000);
    for (let time = 0; time < 3; time++) {
      expect(first().realtime.unavailable()).not.toBeNull();
      for (const ms of await refusals()) expect(ms).toBeLessThan(HELD_503_MS);
      await Bun.sleep(300);
    }
    postgres.resume();
    expect(await untilWell()).toBeLessThan(WELL_MS);
    await dropped;
    await witness.end(fixture.nodes, 'posts');
  });

  test('[N-22] [I-1] when the database loses its last intervals: they are there again as they were served', async () => {
    await Bun.sleep(500);
    const database = new Client({ connectionString: databaseUrl });
    await database.connect();
    const { rows } = await database.query(
      'update watermark set interval = interval - 3 returning interval',
    );
    const { rowCount } = await database.query('delete from sealed_intervals where interval > $1', [
      rows[0].interval,
    ]);
    await database.end();
    expect(rowCount).toBeGreaterThan(0);
    await Bun.sleep(300);
    expect(first().realtime.unavailable()).toBe('The database is unavailable.');
    expect(await untilWell()).toBeLessThan(WELL_MS);
    await witness.end(fixture.nodes, 'posts');
  });
});
