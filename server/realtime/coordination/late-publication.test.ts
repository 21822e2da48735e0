import { expect, test } from 'bun:test';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { modelOfFile } from '../../../test/support/simulation/redis/model-of-file.ts';
import { createSharedChatSource } from '../../domains/chat/chat-source-shared.ts';
import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import type { Sealing, SealOutcome } from '../feed/sealing-sql.ts';
import { servedAtStart } from './realtime-backend-redis.ts';
import type { SealedEntry } from './seal-coordinator.ts';
import { RedisSealCoordinator } from './seal-coordinator-redis.ts';
import { SharedSealer } from './shared-sealer.ts';

const INTERVAL = 7_000_000_000;
const { redis } = await modelOfFile();

/** A server of PostgreSQL without the interval. The bodies that it seals name its timeline. */
function serverOn(timeline: string, beforeCommit: () => Promise<void> = async () => {}) {
  const bodies = [{ streamId: 's', interval: INTERVAL, body: timeline }];
  return async (sealing: Sealing): Promise<SealOutcome> => {
    if (sealing.timeline !== timeline) return { outcome: 'other-timeline', timeline };
    await beforeCommit();
    return { outcome: 'sealed', bodies };
  };
}

function openNode(
  name: string,
  sealInterval: (sealing: Sealing) => Promise<SealOutcome>,
  beforePublication: () => Promise<void> = async () => {},
) {
  const coordinator = new RedisSealCoordinator(redis, name, 'test');
  const served: SealedEntry[] = [];
  const sealer = new SharedSealer({
    clock: { nowMs: () => intervalStartMs(INTERVAL + 1) },
    store: { sealInterval },
    log: new MemoryFeedLog({ readSealed: async () => [] }, INTERVAL - 1),
    logger: console,
    coordinator: {
      collect: (...args) => coordinator.collect(...args),
      keepClaim: (interval) => coordinator.keepClaim(interval),
      fence: (timeline) => coordinator.fence(timeline),
      dataSetName: () => coordinator.dataSetName(),
      publish: async (...args) => {
        await beforePublication();
        return coordinator.publish(...args);
      },
    },
    presence: { countsAtEndOf: async () => [] },
    source: createSharedChatSource({ random: Math.random, unavailableReason: () => null }),
    follower: { apply: async (entry) => void served.push(entry) },
  });
  return { coordinator, sealer, served };
}

test('[I-1] [N-22] a publication that arrives while another node seals its interval on a promoted standby is refused', async () => {
  const committed = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const first = openNode('first', serverOn('7:1'), () => {
    committed.resolve();
    return late.promise;
  });
  await first.coordinator.fence('7:1');
  const firstSealing = first.sealer.seal(INTERVAL);
  await committed.promise;
  const second = openNode(
    'second',
    serverOn('7:2', () => {
      late.resolve();
      return firstSealing;
    }),
  );
  await second.sealer.seal(INTERVAL);
  const published = await second.coordinator.follow(INTERVAL - 1, 10);
  expect(published.map(({ bodies }) => bodies?.[0]?.body)).toEqual(['7:2']);
  expect([first.served, second.served]).toEqual([[], published]);
});

test('[I-1] [N-22] a node that starts serves the newest interval of the database only when its publication cannot be late', () => {
  const endMs = intervalStartMs(INTERVAL + 1);
  for (const nowMs of [endMs, endMs + 15_000]) {
    expect(servedAtStart(INTERVAL, nowMs)).toBe(INTERVAL - 1);
  }
  expect(servedAtStart(INTERVAL, endMs + 15_001)).toBe(INTERVAL);
  expect(servedAtStart(-1, endMs)).toBe(-1);
});
