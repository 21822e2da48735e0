import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import pino from 'pino';
import { type RedisServer, startRedis } from '../../../test/support/backends/redis.ts';
import {
  openTestRedis,
  setCall,
  spinCall,
  spinCountFor,
  TEST_LIBRARY,
  timed,
  waitUntilHealthy,
  waitUntilWritable,
} from '../../../test/support/backends/redis-client.ts';
import { Unavailable } from '../../platform/errors.ts';
import { createLibrary } from './library.ts';
import { openRedis } from './open-redis.ts';
import { RedisConfigurationError } from './reconnecting-connection.ts';
import type { FunctionCall, Redis } from './redis.ts';

// Limits of N-9 and N-11: a call fails in this time, and works again this long after the server does.
const CALL_MAX_MS = 300;
const RECOVERY_MAX_MS = 2_000;
// Well below the silence timeout of 250 ms.
const IMMEDIATE_MS = 100;

let server: RedisServer;
let redis: Redis;
const log: string[] = [];

beforeAll(async () => {
  server = await startRedis({ persistence: false });
});
afterAll(() => server.stop());

beforeEach(async () => {
  log.length = 0;
  redis = await openTestRedis(server.url, { log });
});
afterEach(() => redis.close());

const echo = (...values: (string | number | Uint8Array)[]): FunctionCall => {
  return { name: 'fourbeat_echo', keys: ['{fourbeat}:a'], values };
};

const append = (key: string, id: string, body: string): FunctionCall => {
  return { name: 'fourbeat_append', keys: [key], values: [id, body] };
};

const textOf = (value: unknown) => new TextDecoder().decode(value as Uint8Array);

describe('calls', () => {
  test('calls of Redis accept and return bytes, integers, null and lists', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const reply = (await redis.call(echo(bytes, new Uint8Array(0)))) as unknown[];
    expect(textOf(reply[0])).toBe('{fourbeat}:a');
    expect(Uint8Array.from(reply[1] as Uint8Array)).toEqual(bytes);
    expect(reply.slice(2, 4)).toEqual([7, null]);
    expect(Uint8Array.from((reply[4] as Uint8Array[])[0] as Uint8Array)).toEqual(new Uint8Array(0));
  });

  test('calls of Redis send only the view of a larger buffer', async () => {
    const whole = new TextEncoder().encode('abcdef');
    const reply = (await redis.call(echo(whole.subarray(2, 4)))) as unknown[];
    expect(textOf(reply[1])).toBe('cd');
  });

  test('calls of Redis that are sent together return their replies in order', async () => {
    const values = Array.from({ length: 500 }, (_, index) => `value ${index}`);
    const replies = await redis.callAll(values.map((value) => setCall(`{${value}}`, value)));
    expect(replies.map(textOf)).toEqual(values);
    expect(await redis.callAll([])).toEqual([]);
  });

  test('calls of Redis that are sent together fail when one of them fails', async () => {
    const wrong = { ...echo(), name: 'fourbeat_append' };
    const { end } = await timed(redis.callAll([echo('a'), wrong, echo('b')]));
    expect(end).toBeInstanceOf(Error);
    expect(end).not.toBeInstanceOf(Unavailable);
    expect(await waitUntilWritable(redis, 'a')).toBeLessThan(CALL_MAX_MS);
  });

  test('[N-9] calls of Redis beyond 10,000 pending ones fail immediately', async () => {
    server.pause();
    try {
      const many = Array.from({ length: 10_000 }, () => redis.call(echo('x')).catch(() => {}));
      const { end, ms } = await timed(redis.call(echo('one more')));
      expect(String(end)).toContain('too many pending commands');
      expect(ms).toBeLessThan(IMMEDIATE_MS);
      await Promise.all(many);
    } finally {
      server.resume();
    }
    expect(await waitUntilWritable(redis, 'a')).toBeLessThan(RECOVERY_MAX_MS);
  });
});

describe('the log', () => {
  test('the Redis log is read from an id on, each entry once, with its bytes', async () => {
    const ids = ['5-0', '6-0', '9-0'];
    for (const id of ids) await redis.call(append('{log}1', id, `body of ${id}`));
    const all = await redis.readLog('{log}1', '0-0', 1_000);
    expect(all.map(({ id }) => id)).toEqual(ids);
    expect(all.map(({ value }) => textOf(value))).toEqual(ids.map((id) => `body of ${id}`));
    const rest = await redis.readLog('{log}1', '5-0', 1_000);
    expect(rest.map(({ id }) => id)).toEqual(['6-0', '9-0']);
    expect(await redis.readLog('{log}1', '9-0', 1)).toEqual([]);
  });

  test('a wait for the Redis log blocks no other call', async () => {
    let isRead = false;
    const read = redis.readLog('{log}2', '0-0', 5_000).finally(() => {
      isRead = true;
    });
    for (let index = 0; index < 50; index += 1) await redis.call(setCall('{log}3'));
    expect(isRead).toBe(false);
    await redis.call(append('{log}2', '1-0', 'first'));
    expect((await read).map(({ id }) => id)).toEqual(['1-0']);
  });
});

describe('the library', () => {
  const functionsOf = async () => JSON.stringify(await server.command('FUNCTION', 'LIST'));

  test('[N-13] the Redis library of another release coexists with ours, and neither replaces the other', async () => {
    const text = `
define('fourbeat_probe', function() return 1 end)
define('fourbeat_echo', function() return 'the new release' end)`;
    const logger = pino({ level: 'silent' });
    const newer = await openRedis({
      ...{ url: server.url, replicas: 0, logger },
      library: createLibrary(text),
    });
    try {
      const before = await functionsOf();
      for (let turn = 0; turn < 3; turn += 1) {
        expect(textOf(await newer.call(echo('x')))).toBe('the new release');
        expect(textOf(((await redis.call(echo('x'))) as unknown[])[1])).toBe('x');
      }
      expect(await functionsOf()).toBe(before);
      expect(before).toContain(TEST_LIBRARY.nameOf('fourbeat'));
      expect(before).toContain(createLibrary(text).nameOf('fourbeat'));
    } finally {
      await newer.close();
    }
  });

  test('[N-12] the Redis library that Redis lost is loaded again by the next call', async () => {
    await server.command('FUNCTION', 'FLUSH');
    await server.command('FLUSHALL');
    const replies = await redis.callAll(Array.from({ length: 20 }, () => echo('again')));
    expect(replies).toHaveLength(20);
    expect(redis.unavailableReason()).toBeNull();
  });

  test('the Redis library is loaded when several nodes start together', async () => {
    await server.command('FUNCTION', 'FLUSH');
    const nodes = await Promise.all(Array.from({ length: 8 }, () => openTestRedis(server.url)));
    for (const node of nodes) {
      expect(await node.call(echo('x'))).toBeTruthy();
      await node.close();
    }
  });

  test('the Redis library of this release is accepted by Redis', async () => {
    const library = createLibrary();
    const opened = await openRedis({
      ...{ url: server.url, replicas: 0, logger: pino({ level: 'silent' }), library },
    });
    await opened.close();
    expect(await functionsOf()).toContain(library.nameOf('fourbeat_probe'));
  });
});

describe('an unavailable Redis', () => {
  test('[N-9] [N-11] a Redis that is stopped for 2 s fails calls within 300 ms, then immediately, and recovers within 2 s', async () => {
    const reading = timed(redis.readLog('{log}4', '0-0', 30_000));
    await redis.call(echo('x'));
    server.pause();
    try {
      const first = await timed(redis.call(echo('x')));
      expect(first.end).toBeInstanceOf(Unavailable);
      expect(first.ms).toBeLessThan(CALL_MAX_MS);
      expect((await reading).end).toBeInstanceOf(Unavailable);
      expect(redis.unavailableReason()).toContain('does not respond');
      const stoppedMs = performance.now();
      while (performance.now() - stoppedMs < 2_000) {
        const calls = [
          redis.call(echo('x')),
          redis.timeMs(),
          redis.readLog('{log}4', '0-0', 1_000),
        ];
        for (const { end, ms } of await Promise.all(calls.map(timed))) {
          expect(end).toBeInstanceOf(Unavailable);
          expect(ms).toBeLessThan(IMMEDIATE_MS);
        }
        await Bun.sleep(20);
      }
    } finally {
      server.resume();
    }
    expect(await waitUntilHealthy(redis)).toBeLessThan(RECOVERY_MAX_MS);
    await redis.call(append('{log}4', '1-0', 'later'));
    expect(await redis.readLog('{log}4', '0-0', 1_000)).toHaveLength(1);
    expect(log.map((line) => JSON.parse(line).msg)).toEqual([
      'Redis is unavailable',
      'Redis is available again',
    ]);
  });

  test('[N-9] [N-11] [N-12] a Redis that is killed and restarted without its file has the library within 2 s', async () => {
    await redis.call(setCall('{fourbeat}:kept'));
    await server.kill9();
    await Bun.sleep(20);
    for (const call of [() => redis.call(echo('x')), () => redis.readLog('{log}5', '0-0', 500)]) {
      const { end, ms } = await timed(call());
      expect(end).toBeInstanceOf(Unavailable);
      expect(ms).toBeLessThan(IMMEDIATE_MS);
    }
    await server.restart();
    expect(await waitUntilHealthy(redis)).toBeLessThan(RECOVERY_MAX_MS);
    expect(await server.command('EXISTS', '{fourbeat}:kept')).toBe(0);
  });

  test('[N-9] an unavailable Redis is not assumed when this process itself is stalled', async () => {
    const calls = Array.from({ length: 10 }, () => redis.call(echo('x')));
    Bun.sleepSync(700);
    expect(await Promise.all(calls)).toHaveLength(10);
    const more = redis.call(echo('x'));
    await Bun.sleep(1);
    Bun.sleepSync(700);
    expect(await more).toBeTruthy();
    expect(redis.unavailableReason()).toBeNull();
  });

  test('[N-9] a Redis whose function hangs is unavailable, and calls continue when it ends', async () => {
    const { end, ms } = await timed(redis.call(spinCall((await spinCountFor(server, 100)) * 6)));
    expect(end).toBeInstanceOf(Unavailable);
    expect(ms).toBeLessThan(CALL_MAX_MS);
    expect(await waitUntilWritable(redis, 'a')).toBeLessThan(RECOVERY_MAX_MS);
  });

  test('[N-9] an unavailable Redis is not assumed when it is slow, but a call that waits too long fails', async () => {
    // Short compared to the silence timeout, so that a busy machine does not reach it.
    const spin = spinCall(await spinCountFor(server, 40));
    const calls = await Promise.all(Array.from({ length: 50 }, () => timed(redis.call(spin))));
    expect(redis.unavailableReason()).toBeNull();
    expect(calls[0]?.end).not.toBeInstanceOf(Error);
    const failed = calls.filter(({ end }) => end instanceof Error);
    expect(failed.length).toBeGreaterThan(0);
    for (const { end, ms } of failed) {
      expect(String(end)).toContain('too slow');
      expect(ms).toBeLessThan(1_000);
    }
    // The commands that were sent are executed, and then calls succeed again.
    expect(await waitUntilWritable(redis, 'a')).toBeFinite();
  });

  test('[N-2] an unavailable Redis at the start is reported as Unavailable, so that the node retries', async () => {
    await server.kill9();
    const { end, ms } = await timed(openTestRedis(server.url));
    expect(end).toBeInstanceOf(Unavailable);
    expect(ms).toBeLessThan(CALL_MAX_MS);
    await server.restart();
    expect(await waitUntilWritable(redis, 'a')).toBeLessThan(RECOVERY_MAX_MS);
  });
});

describe('a Redis that accepts no writes', () => {
  test.each([
    ['READONLY', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
    ['OOM', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
    [
      'NOREPLICAS',
      ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
      ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
    ],
    ['NOPERM', ['ACL', 'SETUSER', 'default', '-fcall'], ['ACL', 'SETUSER', 'default', '+@all']],
  ])(
    '[N-9] [N-11] a Redis that accepts no writes (%s) is unavailable, with the reason, until it accepts them',
    async (code, cause, cure) => {
      await server.command(...cause);
      try {
        const { end, ms } = await timed(redis.call(setCall('a')));
        expect(end).toBeInstanceOf(Unavailable);
        expect(ms).toBeLessThan(CALL_MAX_MS);
        expect(redis.unavailableReason()).toContain(code);
      } finally {
        await server.command(...cure);
      }
      expect(await waitUntilHealthy(redis)).toBeLessThan(RECOVERY_MAX_MS);
    },
  );
});

describe('a Redis with a limit of memory', () => {
  test('[N-15] a warning names the policy of a Redis that removes keys when its memory is full', async () => {
    const set = (policy: string, bytes: string) =>
      server.command('CONFIG', 'SET', 'maxmemory', bytes, 'maxmemory-policy', policy);
    const warningsOf = async (policy: string, bytes: string) => {
      await set(policy, bytes);
      const lines: string[] = [];
      const opened = await openTestRedis(server.url, { log: lines });
      await opened.close();
      return lines.filter((line) => line.includes('set maxmemory-policy to noeviction'));
    };
    try {
      const [warning, ...others] = await warningsOf('volatile-lru', '100mb');
      expect(JSON.parse(warning ?? '{}')).toMatchObject({ level: 40, policy: 'volatile-lru' });
      expect(others).toEqual([]);
      expect(await warningsOf('noeviction', '100mb')).toEqual([]);
      expect(await warningsOf('allkeys-lru', '0')).toEqual([]);
    } finally {
      await set('noeviction', '0');
    }
  });
});

describe('[N-2] a configuration error', () => {
  test('a wrong password ends the start with an error that does not repeat it', async () => {
    const guarded = await startRedis({ settings: [['requirepass', 'r1ght']] });
    const withPassword = (credentials: string) => guarded.url.replace('://', `://${credentials}@`);
    try {
      for (const url of [guarded.url, withPassword(':wr0ng'), withPassword('user:wr0ng')]) {
        const error = await openTestRedis(url).catch((e: Error) => e);
        expect(error).toBeInstanceOf(RedisConfigurationError);
        expect(String(error)).toMatch(/WRONGPASS|NOAUTH/);
        expect(`${Bun.inspect(error)}`).not.toContain('wr0ng');
      }
      const right = await openTestRedis(`${withPassword('default:r1ght')}/3`);
      expect(textOf(await right.call(setCall('a', 'in database 3')))).toBe('in database 3');
      await right.close();
    } finally {
      await guarded.stop();
    }
  });

  test('a missing database ends the start', async () => {
    const error = await openTestRedis(`${server.url}/99`).catch((e: Error) => e);
    expect(error).toBeInstanceOf(RedisConfigurationError);
  });
});
