import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import pino from 'pino';
import { Unavailable } from '../../server/platform/errors.ts';
import { openRedis } from '../../server/storage/redis/open-redis.ts';
import type { FunctionCall, Redis, RedisValue } from '../../server/storage/redis/redis.ts';
import { startReplicated } from '../support/backends/redis-replicated.ts';
import { startModel } from '../support/simulation/redis/model-of-file.ts';

const SEALING_KEYS = ['state', 'nodes', 'parts', 'labels', 'watched', 'log'].map(
  (name) => `{f}:${name}`,
);
/** Keys that go to replicas, and not to the append-only file. */
const TRANSIENT_KEYS = ['{b}:1', '{b}:2', '{f}:clock', '{f}:present', '{t}:turn'];

/** A primary with a replica and an append-only file. */
interface Backend {
  /** Opens a connection to the current primary. */
  open(): Promise<Redis>;
  keys(): Promise<unknown>;
  /** Promotes the replica, which has all writes. */
  promote(): Promise<void>;
  /** Restarts the primary with its file. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

async function startServers(): Promise<Backend> {
  const servers = await startReplicated();
  const logger = pino({ level: 'silent' });
  return {
    open: () => openRedis({ url: servers.url, replicas: 1, logger }),
    keys: () => servers.primary.command('KEYS', '*'),
    promote: () => servers.promote(),
    async restart() {
      await servers.primary.command('WAITAOF', 1, 0, 0).catch(() => Bun.sleep(1_100));
      await servers.primary.restart();
    },
    stop: () => servers.stop(),
  };
}

async function startModels(): Promise<Backend> {
  const { model, open } = startModel({ appendOnlyFile: true });
  model.attachReplica({ lagMs: 0 });
  return {
    open: () => open({ replicas: 1 }),
    keys: async () => model.command('KEYS', '*'),
    promote: async () => model.failOver(),
    restart: async () => model.restart({ keepsData: true }),
    stop: async () => {},
  };
}

/** Waits until the replica has all writes. A restarted primary synchronizes it again. */
async function confirmed(redis: Redis): Promise<void> {
  for (;;) {
    try {
      return await redis.waitForReplicas('{f}:log');
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      await Bun.sleep(20);
    }
  }
}

const call = (name: string, keys: readonly string[], values: RedisValue[]): FunctionCall => {
  return { name, keys, values };
};

/** Writes with every function. @param batch its number @returns the name of the data set */
async function writeWithAll(redis: Redis, batch: number): Promise<string> {
  const nowMs = Math.floor(await redis.timeMs());
  const interval = Math.floor(nowMs / 250) - 4 + batch;
  const [, , , dataSet] = (await redis.call(
    call('fourbeat_report', SEALING_KEYS, [
      'a',
      interval,
      0,
      1,
      '',
      batch,
      0,
      'posts',
      0,
      'stream',
    ]),
  )) as [number, number, number, Uint8Array];
  await redis.callAll([
    call('fourbeat_collect', SEALING_KEYS, [interval - 1, interval, 0]),
    call('fourbeat_publish', SEALING_KEYS, [interval, 'bodies', interval - 1, '']),
    call('fourbeat_hand_in', ['{b}:s', '{b}:1', '{b}:2'], ['bits', 'a', 'list', '1']),
    call('fourbeat_hand_in', ['{b}:s', '{b}:1'], ['bits', 'b']),
    call('fourbeat_count', ['{b}:s', '{b}:1', '{b}:2'], []),
    call('fourbeat_announce', ['{f}:present'], [interval, interval, 'stream:0']),
    call('fourbeat_lead', ['{f}:clock'], ['a', nowMs + 20]),
    call('fourbeat_turn', ['{t}:turn'], [nowMs, 1_000, 300_000]),
  ]);
  await confirmed(redis);
  return Buffer.from(dataSet).toString();
}

describe.each([
  { name: 'Redis', start: startServers },
  { name: 'the model of Redis', start: startModels },
])('a loss of $name', ({ start }) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await start();
  });
  afterAll(() => backend.stop());

  const sortedKeys = async () => ((await backend.keys()) as string[]).toSorted();
  const use = async <T>(work: (redis: Redis) => Promise<T>): Promise<T> => {
    const redis = await backend.open();
    try {
      return await work(redis);
    } finally {
      await redis.close();
    }
  };
  const countSeats = () =>
    use((redis) => redis.call(call('fourbeat_count', ['{b}:s', '{b}:1'], [])));

  test('[N-12] by a restart keeps what went to the file', async () => {
    await use((redis) => writeWithAll(redis, 1));
    await backend.restart();
    expect(await sortedKeys()).toEqual(SEALING_KEYS.toSorted());
  });

  test('[N-12] by a failover keeps what the replica has, under another name', async () => {
    const dataSet = await use((redis) => writeWithAll(redis, 2));
    const seats = await countSeats();
    await backend.promote();
    expect(await sortedKeys()).toEqual([...SEALING_KEYS, ...TRANSIENT_KEYS].toSorted());
    expect(await countSeats()).toBe(seats);
    const late = ['a', 1, 0, 1, dataSet, 3, 1, 'posts', 0];
    const reply = await use((redis) => redis.call(call('fourbeat_report', SEALING_KEYS, late)));
    const [, , batchResult, promotedDataSet] = reply as [number, number, number, Uint8Array];
    // The batch is lost: it may be sealed.
    expect(batchResult).toBe(2);
    expect(Buffer.from(promotedDataSet).toString()).not.toBe(dataSet);
  });
});
