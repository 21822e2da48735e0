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
import { IS_FULL_RUN } from '../../../test/support/full-run.ts';
import { Unavailable } from '../../platform/errors.ts';

// Three nodes on one Redis and one PostgreSQL, in real time, with faults. Faults that
// test/cluster/faults.test.ts injects into complete nodes run here in `npm run test:full` only.

let redis: RedisServer;
let postgres: PostgresServer;
let fixture: FeedFixture;
let recorder: FeedRecorder;
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
  recorder = await FeedRecorder.of(fixture);
  await Bun.sleep(1_000);
});
afterEach(() => fixture.close());

const first = () => fixture.nodes[0] as FeedNode;
/** Maximum time to a 503 once an outage is detected. */
const KNOWN_503_MS = 300;
/** Maximum time to a 503 when an outage begins: the rest of the interval, and the detection. */
const FIRST_503_MS = 1_000;
const RECOVERY_MS = 2_000;

/** Waits until every node serves again. @returns how long it took, in ms */
async function recovery(): Promise<number> {
  const fromMs = performance.now();
  await recorder.untilHealthy();
  return performance.now() - fromMs;
}

/**
 * Reads on each node an interval that ends in a second or later.
 * @returns the time to the 503 of each node, in ms; a 503 for an overdue interval (F-9) would take
 *   1,750 ms or more
 */
function timesTo503(): Promise<number[]> {
  const sentMs = performance.now();
  return Promise.all(
    fixture.nodes.map(async ({ realtime, clock }) => {
      const read = async () => realtime.feed.read(recorder.streamId, intervalAt(clock.nowMs()) + 4);
      const error = await read().catch((e) => e);
      expect(error).toBeInstanceOf(Unavailable);
      return performance.now() - sentMs;
    }),
  );
}

describe('served intervals stay, every event is published once and no post twice', () => {
  test.skipIf(!IS_FULL_RUN)(
    '[N-4] [C-6] the feed loses and repeats nothing without faults, on all nodes',
    async () => {
      await Bun.sleep(1_000);
      await recorder.end(fixture.nodes, 'nothing');
      expect(recorder.reads.filter(({ failed }) => failed)).toEqual([]);
    },
  );

  test('[N-4] the feed loses and repeats nothing when the database delays the sealings of one node', async () => {
    for (const phase of ['before', 'after'] as const) {
      const stall = Promise.withResolvers<void>();
      first().storeBehavior[phase] = stall.promise;
      await Bun.sleep(700);
      const { realtime, clock } = first();
      // Other nodes seal, and the delayed one follows them.
      expect(intervalAt(clock.nowMs()) - 1 - realtime.feed.watermark()).toBeLessThanOrEqual(2);
      first().storeBehavior[phase] = null;
      stall.resolve();
      await Bun.sleep(300);
    }
    await recorder.end(fixture.nodes, 'nothing');
  });

  test.skipIf(!IS_FULL_RUN)(
    '[N-7] [N-4] the feed loses and repeats nothing when a node dies',
    async () => {
      await first().crash();
      const alive = fixture.nodes.slice(1);
      for (let step = 0; step < 10; step++) {
        await Bun.sleep(100);
        for (const { realtime, clock } of alive) {
          expect(intervalAt(clock.nowMs()) - 1 - realtime.feed.watermark()).toBeLessThanOrEqual(2);
        }
      }
      const joined = await fixture.openNode();
      recorder.watch(joined);
      await Bun.sleep(500);
      await recorder.end([...alive, joined], 'posts');
    },
  );

  test.skipIf(!IS_FULL_RUN)(
    '[N-13] the feed loses and repeats nothing when nodes are restarted one after the other, without a lost post',
    async () => {
      for (const node of [...fixture.nodes]) {
        recorder.watch(await fixture.openNode());
        (fixture.nodes as FeedNode[]).splice(fixture.nodes.indexOf(node), 1);
        await node.stop();
      }
      await Bun.sleep(300);
      await recorder.end(fixture.nodes, 'nothing');
    },
  );

  test.skipIf(!IS_FULL_RUN)(
    '[N-12] [N-9] the feed loses and repeats nothing when Redis is killed and restarted',
    async () => {
      await redis.kill9();
      await Bun.sleep(700);
      await redis.restart();
      expect(await recovery()).toBeLessThan(RECOVERY_MS);
      await Bun.sleep(500);
      await recorder.end(fixture.nodes, 'posts');
    },
  );

  test('[N-12] the feed loses and repeats nothing when Redis loses all data several times', async () => {
    for (let time = 0; time < 8; time++) {
      await redis.command('FLUSHALL');
      await Bun.sleep(130 + 40 * time);
    }
    expect(await recovery()).toBeLessThan(RECOVERY_MS);
    await recorder.end(fixture.nodes, 'posts');
  });

  test.skipIf(!IS_FULL_RUN)(
    '[N-9] the feed loses and repeats nothing when Redis is paused: unsealed intervals are 503 and sealed ones are served',
    async () => {
      redis.pause();
      const times = timesTo503();
      await Bun.sleep(600);
      for (const ms of await times) expect(ms).toBeLessThan(FIRST_503_MS);
      for (const { realtime, chat, clock } of fixture.nodes) {
        const interval = intervalAt(clock.nowMs());
        expect(() => realtime.feed.read(recorder.streamId, interval)).toThrow(Unavailable);
        expect(() => chat.hearts(recorder.streamId, 1)).toThrow(Unavailable);
        expect(() => realtime.presence.register(recorder.streamId, 1)).toThrow(Unavailable);
        expect(realtime.feed.read(recorder.streamId, realtime.feed.watermark())).toBeInstanceOf(
          Uint8Array,
        );
        expect(realtime.unavailableReason()).not.toBeNull();
      }
      const detectedMs = performance.now();
      await Bun.sleep(1_000);
      redis.resume();
      expect(await recovery()).toBeLessThan(RECOVERY_MS);
      const failed = recorder.reads.filter((read) => read.atMs > detectedMs && read.failed);
      expect(failed.length).toBeGreaterThan(0);
      for (const { tookMs } of failed) expect(tookMs).toBeLessThan(KNOWN_503_MS);
      await Bun.sleep(300);
      await recorder.end(fixture.nodes, 'posts');
    },
  );

  for (const [name, stop, start] of [
    ['paused', () => postgres.pause(), () => postgres.resume()],
    ['killed', () => postgres.kill9(), () => postgres.start()],
  ] as const) {
    test(`[N-10] [C-6] the feed loses and repeats nothing when PostgreSQL is ${name}: unsealed intervals are 503 and posts are kept`, async () => {
      const stopped = stop();
      const times = timesTo503();
      await stopped;
      await Bun.sleep(1_000);
      for (const ms of await times) expect(ms).toBeLessThan(FIRST_503_MS);
      for (const { realtime, clock } of fixture.nodes) {
        const interval = intervalAt(clock.nowMs());
        expect(() => realtime.feed.read(recorder.streamId, interval)).toThrow(Unavailable);
        expect(realtime.feed.read(recorder.streamId, realtime.feed.watermark())).toBeInstanceOf(
          Uint8Array,
        );
        expect(realtime.unavailableReason()).not.toBeNull();
        realtime.presence.register(recorder.streamId, 1);
        expect(await realtime.presence.count(recorder.streamId)).toBe(1);
      }
      const detectedMs = performance.now();
      await Bun.sleep(1_500);
      await start();
      expect(await recovery()).toBeLessThan(RECOVERY_MS);
      const failed = recorder.reads.filter((read) => read.atMs > detectedMs && read.failed);
      expect(failed.length).toBeGreaterThan(0);
      for (const { tookMs } of failed) expect(tookMs).toBeLessThan(KNOWN_503_MS);
      await Bun.sleep(300);
      await recorder.end(fixture.nodes, 'messages');
    });
  }

  test('[N-10] [N-7] the feed loses and repeats nothing when PostgreSQL is paused during a sealing by the only node left', async () => {
    const [onlyNode, ...others] = fixture.nodes as FeedNode[];
    const stall = Promise.withResolvers<void>();
    (onlyNode as FeedNode).storeBehavior.before = stall.promise;
    const crashed = Promise.all(others.map((node) => node.crash()));
    (fixture.nodes as FeedNode[]).splice(1);
    await Bun.sleep(600);
    postgres.pause();
    first().storeBehavior.before = null;
    stall.resolve();
    await Bun.sleep(1_000);
    for (let time = 0; time < 3; time++) {
      expect(first().realtime.unavailableReason()).not.toBeNull();
      for (const ms of await timesTo503()) expect(ms).toBeLessThan(KNOWN_503_MS);
      await Bun.sleep(300);
    }
    postgres.resume();
    expect(await recovery()).toBeLessThan(RECOVERY_MS);
    await crashed;
    await recorder.end(fixture.nodes, 'posts');
  });

  test('[N-22] [I-1] the feed loses and repeats nothing when the database loses its last intervals, which nodes restore as they were served', async () => {
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
    expect(first().realtime.unavailableReason()).toBe('The database is unavailable.');
    expect(await recovery()).toBeLessThan(RECOVERY_MS);
    await recorder.end(fixture.nodes, 'posts');
  });
});
