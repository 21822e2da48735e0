import { afterAll, beforeAll, expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import { Pool } from 'pg';
import pino from 'pino';
import { openShared } from '../../server/app/backends-shared.ts';
import { type ServerOptions, startServer } from '../../server/app/server.ts';
import { type Config, createConfig } from '../../server/platform/config.ts';
import { type PostgresServer, startPostgres } from '../support/backends/postgres.ts';
import { type RedisServer, startRedis } from '../support/backends/redis.ts';

// A node starts while its backends come and go.

const PROGRAM = fileURLToPath(new URL('../../bin/fourbeat', import.meta.url));
const UNAVAILABLE_MS = 800;
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

/** Starts a node while something is unavailable for a moment; it is ready all the same. */
async function startsWhile(openBackends: ServerOptions['openBackends']): Promise<void> {
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
  '[N-2] a node that has opened the database goes on trying while it is unavailable',
  () =>
    startsWhile(async (options) => {
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
      for (let afterMs = 0; afterMs <= 60; afterMs += 12) {
        await startsWhile((options) => {
          setTimeout(() => server().pause(), afterMs);
          setTimeout(() => server().resume(), afterMs + UNAVAILABLE_MS);
          return openShared(options);
        });
      }
    },
    TEST_MS,
  );
}

for (const [name, server, line] of [
  ['PostgreSQL', () => postgres, /^(?:postgres|The database) is unavailable\.$/],
  ['Redis', () => redis, /^Redis is unavailable\.$/],
] as const) {
  test(
    `[O-10] [N-11] a node that cannot reach ${name} is not ready until it can, and says no address`,
    async () => {
      const node = await start(openShared);
      const details = new Set<string>();
      const untilReady = async (status: number) => {
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
        await untilReady(200);
        details.clear();
        server().pause();
        await untilReady(503);
        server().resume();
        await untilReady(200);
        for (const detail of details) expect(detail).toMatch(line);
      } finally {
        server().resume();
        await node.stop(GRACE_MS);
      }
    },
    TEST_MS,
  );
}

test('[N-2] a start that fails leaves no connection behind', async () => {
  const pool = new Pool({ connectionString: postgres.url });
  const connections = async () => {
    const clients = String(await redis.command('CLIENT', 'LIST')).split('\n').length;
    const { rows } = await pool.query('select count(*)::int as backends from pg_stat_activity');
    return `${clients} ${rows[0].backends}`;
  };
  const before = await connections();
  const isAsBefore = async () => {
    for (let tries = 0; tries < 100 && (await connections()) !== before; tries++) {
      await Bun.sleep(20);
    }
    expect(await connections()).toBe(before);
  };
  const failing = async (wrong: Partial<Config>, message: string) => {
    const logger = pino({ level: 'silent' });
    const options = { config: { ...config, ...wrong }, logger, onFailed: () => {} };
    expect(String(await openShared(options).catch((e) => e))).toContain(message);
    await isAsBefore();
  };
  await failing({ database: postgres.url.replace(/[^/]*$/, 'nowhere') }, 'nowhere');
  // It can open the database, and not the clock.
  await redis.command('ACL', 'SETUSER', 'timeless', 'on', '>secret', '~*', '&*', '+@all', '-time');
  const timeless = redis.url.replace('redis://', 'redis://timeless:secret@');
  await failing({ redis: timeless }, 'NOPERM');
  const wrong = start(async (given) => {
    const backends = await openShared(given);
    const createRealtime = () => Promise.reject(new Error('no realtime backend'));
    return { ...backends, createRealtime };
  });
  expect(await wrong.catch((e) => e.message)).toBe('no realtime backend');
  await isAsBefore();
  await pool.end();
});

for (const [name, server] of [
  ['PostgreSQL', () => postgres],
  ['Redis', () => redis],
] as const) {
  test(
    `[N-2] [O-11] a node that waits for ${name} ends with 0 when it is told to stop`,
    async () => {
      server().pause();
      try {
        const backends = ['--database', postgres.url, '--redis', redis.url];
        const place = ['--host', '127.0.0.1', '--port', '0', '--public-url', PUBLIC_URL];
        const node = Bun.spawn([PROGRAM, 'serve', ...place, ...backends], {
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        let log = '';
        const decoder = new TextDecoder();
        for await (const chunk of node.stderr) {
          log += decoder.decode(chunk, { stream: true });
          if (log.includes('cannot be reached')) break;
        }
        const toldMs = performance.now();
        node.kill('SIGTERM');
        expect(await node.exited).toBe(0);
        expect(performance.now() - toldMs).toBeLessThan(GRACE_MS);
      } finally {
        server().resume();
      }
    },
    TEST_MS,
  );
}
