import { afterAll, beforeAll, expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import { Pool } from 'pg';
import pino from 'pino';
import { openShared } from '../../server/app/backends-shared.ts';
import { type ServerOptions, startServer } from '../../server/app/server.ts';
import { type Config, createConfig } from '../../server/platform/config.ts';
import { type PostgresServer, startPostgres } from '../support/backends/postgres.ts';
import { type RedisServer, startRedis } from '../support/backends/redis.ts';
import { IS_FULL_RUN } from '../support/full-run.ts';

// A node starts while a backend is unavailable.

const PROGRAM = fileURLToPath(new URL('../../bin/fourbeat', import.meta.url));
const UNAVAILABLE_MS = 800;
/** Delays from the start of a node to an outage; a start takes about 60 ms. */
const OUTAGE_DELAYS_MS = IS_FULL_RUN ? [0, 12, 24, 36, 48, 60] : [0, 20, 50];
const GRACE_MS = 2_000;
const TEST_MS = 60_000;
const PUBLIC_URL = 'https://live.example.org';

let redis: RedisServer;
let postgres: PostgresServer;
let config: Config;
beforeAll(async () => {
  [redis, postgres] = await Promise.all([startRedis(), startPostgres({ fsync: false })]);
  const [host, port] = ['127.0.0.1', 0];
  const backends = { database: postgres.url, redis: redis.url, publicUrl: PUBLIC_URL };
  config = createConfig({ host, port, ...backends });
});
afterAll(async () => {
  await Promise.all([redis.stop(), postgres.stop()]);
});

function start(openBackends: ServerOptions['openBackends']) {
  const logger = pino({ level: 'silent' });
  return startServer({ config, logger, version: '0', onFailed: () => {}, openBackends });
}

/** Starts a node, whose backends become unavailable for a moment, and expects it to get ready. */
async function expectReady(openBackends: ServerOptions['openBackends']): Promise<void> {
  const server = await start(openBackends);
  try {
    let status = 0;
    for (let tries = 0; tries < 100 && status !== 200; tries++) {
      status = (await fetch(`${server.url}/readyz`)).status;
      await Bun.sleep(20);
    }
    expect(status).toBe(200);
  } finally {
    await server.stop(GRACE_MS);
  }
}

test(
  '[N-2] a node that has opened the database retries while the database is unavailable',
  () =>
    expectReady(async (options) => {
      const backends = await openShared(options);
      postgres.pause();
      setTimeout(() => postgres.resume(), UNAVAILABLE_MS);
      return backends;
    }),
  TEST_MS,
);

for (const [name, server] of [
  ['PostgreSQL', () => postgres],
  ['Redis', () => redis],
] as const) {
  test(
    `[N-2] a node starts when ${name} is unavailable for a moment at any point of its start`,
    async () => {
      for (const afterMs of OUTAGE_DELAYS_MS) {
        await expectReady((options) => {
          setTimeout(() => server().pause(), afterMs);
          setTimeout(() => server().resume(), afterMs + UNAVAILABLE_MS);
          return openShared(options);
        });
      }
    },
    TEST_MS,
  );
}

for (const [name, server, detailPattern] of [
  ['PostgreSQL', () => postgres, /^(?:postgres|The database) is unavailable\.$/],
  ['Redis', () => redis, /^Redis is unavailable\.$/],
] as const) {
  test(
    `[O-10] [N-11] a node is not ready while ${name} is unavailable, and its response contains no address`,
    async () => {
      const node = await start(openShared);
      const details = new Set<string>();
      const waitForStatus = async (status: number) => {
        for (let tries = 0; tries < 200; tries++) {
          const response = await fetch(`${node.url}/readyz`);
          const { detail } = (await response.json()) as { detail?: string };
          if (detail !== undefined) details.add(detail);
          if (response.status === status) return;
          await Bun.sleep(20);
        }
        expect.unreachable(`/readyz is never ${status}`);
      };
      try {
        await waitForStatus(200);
        details.clear();
        server().pause();
        await waitForStatus(503);
        server().resume();
        await waitForStatus(200);
        // Sealing stalls with its backend, and may resume a moment later.
        details.delete('Sealing is stalled.');
        for (const detail of details) expect(detail).toMatch(detailPattern);
      } finally {
        server().resume();
        await node.stop(GRACE_MS);
      }
    },
    TEST_MS,
  );
}

test('[N-2] a failed start closes every connection', async () => {
  const pool = new Pool({ connectionString: postgres.url });
  const connections = async () => {
    const clients = String(await redis.command('CLIENT', 'LIST')).split('\n').length;
    const { rows } = await pool.query('select count(*)::int as backends from pg_stat_activity');
    return `${clients} ${rows[0].backends}`;
  };
  const before = await connections();
  const expectAllClosed = async () => {
    for (let tries = 0; tries < 100 && (await connections()) !== before; tries++) {
      await Bun.sleep(20);
    }
    expect(await connections()).toBe(before);
  };
  const expectFailure = async (changes: Partial<Config>, message: string) => {
    const logger = pino({ level: 'silent' });
    const options = { config: { ...config, ...changes }, logger, onFailed: () => {} };
    expect(String(await openShared(options).catch((e) => e))).toContain(message);
    await expectAllClosed();
  };
  await expectFailure({ database: postgres.url.replace(/[^/]*$/, 'nowhere') }, 'nowhere');
  // This Redis user may not call TIME: the database opens, but the clock does not.
  await redis.command('ACL', 'SETUSER', 'timeless', 'on', '>secret', '~*', '&*', '+@all', '-time');
  const timeless = redis.url.replace('redis://', 'redis://timeless:secret@');
  await expectFailure({ redis: timeless }, 'NOPERM');
  const failedStart = start(async (options) => {
    const backends = await openShared(options);
    const createRealtime = () => Promise.reject(new Error('no realtime backend'));
    return { ...backends, createRealtime };
  });
  expect(await failedStart.catch((e) => e.message)).toBe('no realtime backend');
  await expectAllClosed();
  await pool.end();
});

for (const [name, server] of [
  ['PostgreSQL', () => postgres],
  ['Redis', () => redis],
] as const) {
  test(
    `[N-2] [O-11] a node that waits for ${name} exits with 0 on SIGTERM`,
    async () => {
      server().pause();
      try {
        const backends = ['--database', postgres.url, '--redis', redis.url];
        const address = ['--host', '127.0.0.1', '--port', '0', '--public-url', PUBLIC_URL];
        const node = Bun.spawn([PROGRAM, 'serve', ...address, ...backends], {
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        let log = '';
        const decoder = new TextDecoder();
        for await (const chunk of node.stderr) {
          log += decoder.decode(chunk, { stream: true });
          if (log.includes('cannot be reached')) break;
        }
        const signaledMs = performance.now();
        node.kill('SIGTERM');
        expect(await node.exited).toBe(0);
        expect(performance.now() - signaledMs).toBeLessThan(GRACE_MS);
      } finally {
        server().resume();
      }
    },
    TEST_MS,
  );
}
