import { afterAll, beforeAll } from 'bun:test';
import { type PostgresServer, startPostgres } from '../../../test/support/backends/postgres.ts';
import { type RedisServer, startRedis } from '../../../test/support/backends/redis.ts';
import { openEmbeddedFixture, openSharedFixture } from '../../../test/support/feed/feed-fixture.ts';
import { feedLogContract } from '../../../test/support/feed/feed-log-contract.ts';
import { startModel } from '../../../test/support/simulation/redis/model-of-file.ts';

let redis: RedisServer;
let postgres: PostgresServer;

beforeAll(async () => {
  [redis, postgres] = await Promise.all([startRedis(), startPostgres({ fsync: false })]);
});

afterAll(async () => {
  await Promise.all([redis.stop(), postgres.stop()]);
});

feedLogContract('one process, SQLite', openEmbeddedFixture);

for (const nodes of [1, 3]) {
  feedLogContract(`${nodes} on Redis and PostgreSQL`, async () => {
    await redis.command('FLUSHALL');
    const databaseUrl = await postgres.createDatabase(`feed_of_${nodes}`);
    return openSharedFixture({ redisUrl: redis.url, databaseUrl, nodes });
  });
}

feedLogContract('3 on the model of Redis and PostgreSQL', async () => {
  const model = startModel();
  const databaseUrl = await postgres.createDatabase('feed_of_model');
  const connect = () => model.open();
  return openSharedFixture({ redisUrl: 'redis://model', databaseUrl, nodes: 3, connect });
});
