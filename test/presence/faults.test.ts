import { beforeEach, describe, expect, test } from 'bun:test';
import { Unavailable } from '../../server/platform/errors.ts';
import { redisOfFile } from '../support/backends/redis-of-file.ts';
import { PresenceNodes } from '../support/presence/nodes.ts';
import { modelOfFile } from '../support/simulation/redis/model-of-file.ts';

const BACKENDS = [
  { name: 'Redis', ...(await redisOfFile({ persistence: false })) },
  { name: 'the model of Redis', ...(await modelOfFile()) },
];

describe.each(BACKENDS)('on $name,', ({ server, redis }) => {
  let nodes: PresenceNodes;

  beforeEach(() => {
    nodes = new PresenceNodes(redis, 2);
  });

  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await Bun.sleep(5);
  }

  /** Registers two seats on one node and one on the other, in three replicated intervals. */
  async function registerInThree(): Promise<void> {
    nodes.register(0, 1);
    await nodes.pass(1);
    nodes.register(1, 2);
    await nodes.pass(1);
    nodes.register(0, 3);
    await nodes.pass(1);
  }

  const ended = () => nodes.interval - 1;

  describe('while Redis is unavailable', () => {
    test('[N-9] registrations, counts and replication fail; afterwards everything that counts is replicated again', async () => {
      await registerInThree();
      await server.kill9();
      await until(() => redis.unavailableReason() !== null);
      expect(() => nodes.register(0, 4)).toThrow(Unavailable);
      const work = [
        nodes.count(0),
        nodes.node(0).replicate(ended()),
        nodes.node(1).replicate(ended()),
        nodes.node(0).countsAtEndOf(ended()),
      ];
      for (const call of work)
        expect(await call.catch((error) => error)).toBeInstanceOf(Unavailable);
      // Errors for viewers contain no addresses, also of calls under way.
      expect(() => nodes.register(0, 4)).toThrow(/^Redis is unavailable\.$/);
      expect((await nodes.count(0).catch((error) => error)).message).toBe('Redis is unavailable.');

      await server.restart();
      await until(() => redis.unavailableReason() === null);
      await nodes.pass(1);
      expect(await nodes.countAtEndOf(ended())).toBe(3);
      nodes.register(0, 4);
      expect(await nodes.count(0)).toBe(4);
    });

    test('[N-11] registrations that were not replicated are counted afterwards', async () => {
      await registerInThree();
      nodes.register(1, 9);
      nodes.end();
      server.pause();
      const counted = nodes.count(0).catch((error) => error);
      const failed = await nodes
        .node(1)
        .replicate(ended())
        .catch((error) => error);
      expect(failed).toBeInstanceOf(Unavailable);
      expect((await counted).message).toBe('Redis is unavailable.');
      server.resume();
      await until(() => redis.unavailableReason() === null);
      await nodes.replicate();
      expect(await nodes.countAtEndOf(ended())).toBe(4);
    });
  });

  describe('after Redis lost data', () => {
    test('[N-12] nodes notice it with the next replication, and send everything that counts', async () => {
      await registerInThree();
      await server.command('FLUSHALL');
      nodes.register(0, 3);
      nodes.register(1, 2);
      await nodes.pass(1);
      expect(await nodes.countAtEndOf(ended())).toBe(3);
    });

    test('[N-12] each node sends its bitsets again when only those of one stream are lost', async () => {
      await registerInThree();
      const keys = (await server.command('KEYS', `*${nodes.streamId}*`)) as string[];
      await server.command('DEL', ...keys);
      nodes.register(0, 9);
      nodes.register(1, 9);
      await nodes.pass(1);
      expect(await nodes.countAtEndOf(ended())).toBe(4);
    });

    test('[N-12] nodes announce the blocks of all streams again when only the list of blocks is lost', async () => {
      await registerInThree();
      await server.command('DEL', `fourbeat:{fourbeat}:${nodes.serviceId}:present`);
      for (const presence of nodes.registries) presence.register('another stream', 1);
      await nodes.pass(1);
      expect(await nodes.countAtEndOf(ended())).toBe(3);
    });
  });

  test('[N-5] an interval that is replicated late, or again, counts once and in its own window', async () => {
    nodes.register(0, 1, 2);
    nodes.end();
    nodes.register(0, 2);
    nodes.end();
    for (let time = 0; time < 3; time += 1) await nodes.replicate();
    expect(await nodes.countAtEndOf(ended())).toBe(2);
    expect(await nodes.countAtEndOf(ended() + 3)).toBe(2);
    expect(await nodes.countAtEndOf(ended() + 4)).toBe(1);
  });

  test('[N-17] streams without registrations cost no call of Redis', async () => {
    await registerInThree();
    await nodes.pass(8);
    const commands = async () => {
      const stats = String(await server.command('INFO', 'commandstats'));
      return [...stats.matchAll(/cmdstat_fcall:calls=(\d+)/g)].map(([, calls]) => Number(calls));
    };
    const callsBefore = await commands();
    await nodes.pass(20);
    expect(await commands()).toEqual(callsBefore);
  });

  test('[N-17] every presence key in Redis has a time to live', async () => {
    nodes.register(0, 1, 100, 3_000_000);
    await nodes.pass(1);
    nodes.register(1, 1, 5);
    expect(await nodes.count(1)).toBe(4);
    await nodes.pass(1);
    const keys = (await server.command('KEYS', 'fourbeat:*')) as string[];
    expect(keys.length).toBeGreaterThan(3);
    for (const key of keys) {
      const ttlMs = Number(await server.command('PTTL', key));
      expect(ttlMs).toBeGreaterThan(0);
      expect(ttlMs).toBeLessThanOrEqual(5_000);
    }
  });
});
