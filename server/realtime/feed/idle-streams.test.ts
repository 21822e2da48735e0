import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type PostgresServer, startPostgres } from '../../../test/support/backends/postgres.ts';
import { type RedisServer, startRedis } from '../../../test/support/backends/redis.ts';
import { type FeedFixture, openSharedFixture } from '../../../test/support/feed/feed-fixture.ts';

const NODES = 2;
const STREAMS = 200;
const MEASURED_MS = 3_000;
// Maximum Redis commands of a node per interval, including those that Redis functions execute.
const COMMANDS_PER_NODE_AND_INTERVAL_MAX = 60;
const CALLS_PER_NODE_AND_INTERVAL_MAX = 5; // Function calls and reads of the log.

let redis: RedisServer;
let postgres: PostgresServer;
let fixture: FeedFixture;

beforeAll(async () => {
  [redis, postgres] = await Promise.all([startRedis(), startPostgres({ fsync: false })]);
  const databaseUrl = await postgres.createDatabase('idle_streams');
  fixture = await openSharedFixture({ redisUrl: redis.url, databaseUrl, nodes: NODES });
});
afterAll(async () => {
  await fixture.close();
  await Promise.all([redis.stop(), postgres.stop()]);
});

/** Redis calls, commands (with those inside functions) and input bytes, per node and interval. */
async function costs(): Promise<{ calls: number; commands: number; bytes: number }> {
  const before = await readCosts();
  await Bun.sleep(MEASURED_MS);
  const after = await readCosts();
  const nodeIntervals = (NODES * MEASURED_MS) / 250;
  return {
    calls: (after.calls - before.calls) / nodeIntervals,
    commands: (after.commands - before.commands) / nodeIntervals,
    bytes: (after.bytes - before.bytes) / nodeIntervals,
  };
}

async function readCosts() {
  const text = String(await redis.command('INFO', 'all'));
  const commandsOf = (name: string) =>
    Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(text)?.[1] ?? 0);
  const all = [...text.matchAll(/cmdstat_[^:]+:calls=(\d+)/g)].map(([, calls]) => Number(calls));
  return {
    calls: commandsOf('fcall') + commandsOf('xread'),
    commands: all.reduce((sum, calls) => sum + calls, 0),
    bytes: Number(/total_net_input_bytes:(\d+)/.exec(text)?.[1]),
  };
}

test('[N-17] an idle interval costs the same few commands, however many streams there are', async () => {
  await Bun.sleep(500);
  const unused = await costs();
  const streamIds: string[] = [];
  for (let n = 0; n < STREAMS; n++) streamIds.push(await fixture.newStream());
  for (const [index, streamId] of streamIds.entries()) {
    const { realtime, chat } = fixture.nodes[index % NODES] as (typeof fixture.nodes)[number];
    realtime.presence.register(streamId, index);
    chat.hearts(streamId, 1);
    void realtime.feed.read(streamId, realtime.feed.watermark() + 1);
  }
  const busy = await costs();
  // Let the registrations and reads expire, and the counts of 0 be published.
  await Bun.sleep(3_000);
  const idle = await costs();
  expect(busy.bytes).toBeGreaterThan(1.5 * unused.bytes);
  for (const { calls, commands } of [unused, idle]) {
    expect(calls).toBeLessThan(CALLS_PER_NODE_AND_INTERVAL_MAX);
    expect(commands).toBeLessThan(COMMANDS_PER_NODE_AND_INTERVAL_MAX);
  }
  expect(idle.commands).toBeLessThan(1.2 * unused.commands);
  expect(idle.bytes).toBeLessThan(1.2 * unused.bytes);
});
