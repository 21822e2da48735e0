import { describe, expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import type { SealedBody } from '../feed/sealing-sql.ts';
import { FeedFollower } from './feed-follower.ts';
import type { SealedEntry } from './seal-coordinator.ts';
import { DatabaseRolledBack } from './tail-repair.ts';

const STREAM = 's';
const START = 7_000_000_000;
const decoder = new TextDecoder();

const bodyOf = (interval: number): SealedBody => ({
  streamId: STREAM,
  interval,
  body: `{"interval":${interval},"events":[{"type":"t","data":null}]}`,
});
const entry = (interval: number): SealedEntry => ({
  after: interval - 1,
  interval,
  bodies: [bodyOf(interval)],
});

/** A follower on a record that has a body in every interval up to its watermark. */
function testFollower(watermark = START) {
  const store = {
    watermark,
    reads: 0,
    isUnavailableFor: 'nothing' as 'nothing' | 'bodies' | 'all',
    readsUntilUnavailable: Number.POSITIVE_INFINITY,
  };
  const between = (from: number, to: number) =>
    Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => bodyOf(from + n));
  const calls = {
    readWatermark: async () => {
      if (store.isUnavailableFor === 'all') throw new Unavailable('away');
      return store.watermark;
    },
    readSealedOfAll: async ({ from, to }: { from: number; to: number }) => {
      if (store.isUnavailableFor !== 'nothing') throw new Unavailable('away');
      if (store.reads === store.readsUntilUnavailable) throw new Unavailable('away');
      store.reads++;
      return between(from, Math.min(to, store.watermark));
    },
    restoreSealed: async ({ after, interval }: { after: number; interval: number }) => {
      if (after !== store.watermark) return false;
      store.watermark = interval;
      return true;
    },
    readSealed: async ({ from, to }: { from: number; to: number }) =>
      between(from, Math.min(to, store.watermark)),
  };
  const log = new MemoryFeedLog(calls, watermark);
  const heard: number[] = [];
  log.subscribe(STREAM, (interval, body) => {
    expect(decoder.decode(body)).toBe(bodyOf(interval).body);
    heard.push(interval);
  });
  const follower = new FeedFollower({
    parts: { follow: async () => [] },
    store: calls,
    log,
    random: () => 0.5,
    onShown: () => {},
    onTrouble: () => {},
  });
  return { follower, log, store, heard };
}

describe('what any node sealed', () => {
  test('[N-4] is shown in order, each interval once, whoever tells it first', async () => {
    const { follower, heard, store } = testFollower();
    store.watermark = START + 3;
    for (const interval of [1, 1, 2, 1, 3, 2]) await follower.take(entry(START + interval));
    expect(heard).toEqual([START + 1, START + 2, START + 3]);
    expect(store.reads).toBe(0);
  });

  test('[N-4] [I-1] a gap in the log is filled from the database, first', async () => {
    const { follower, heard, store } = testFollower();
    store.watermark = START + 5;
    await follower.take(entry(START + 1));
    await follower.take(entry(START + 5));
    expect(heard).toEqual([1, 2, 3, 4, 5].map((n) => START + n));
    expect(store.reads).toBe(1);
  });

  test('[N-10] nothing is shown past a gap that the database cannot fill now', async () => {
    const { follower, heard, log, store } = testFollower();
    store.watermark = START + 5;
    store.isUnavailableFor = 'all';
    const error = await follower.take(entry(START + 5)).catch((e) => e);
    expect(error).toBeInstanceOf(Unavailable);
    expect(log.sealedTo()).toBe(START);
    store.isUnavailableFor = 'nothing';
    await follower.take(entry(START + 5));
    expect(heard).toEqual([1, 2, 3, 4, 5].map((n) => START + n));
  });

  test('[F-16] intervals that were sealed together come together', async () => {
    const { follower, log, store } = testFollower();
    store.watermark = START + 9;
    const bodies = Array.from({ length: 9 }, (_, n) => bodyOf(START + 1 + n));
    await follower.take({ after: START, interval: START + 9, bodies });
    expect(log.sealedTo()).toBe(START + 9);
    expect(store.reads).toBe(0);
  });

  test('[N-4] what was too much for the log is read from the database', async () => {
    const { follower, heard, store } = testFollower();
    store.watermark = START + 2;
    await follower.take({ after: START, interval: START + 2, bodies: null });
    expect(heard).toEqual([START + 1, START + 2]);
  });

  test('[N-11] after a long absence only the last moments are read for all', async () => {
    const { follower, heard, log, store } = testFollower();
    store.watermark = START + 1_000;
    await follower.take(entry(START + 1_000));
    expect(log.sealedTo()).toBe(START + 1_000);
    expect(heard.length).toBeLessThan(50);
    const old = await log.read(STREAM, START + 300);
    expect(decoder.decode(old)).toBe(bodyOf(START + 300).body);
  });

  test('[N-4] what the database has is found without the log, for the other nodes too', async () => {
    const { follower, heard, store } = testFollower();
    expect(await follower.catchUp()).toBeNull();
    store.watermark = START + 2;
    expect(await follower.catchUp()).toEqual({
      after: START,
      interval: START + 2,
      bodies: [bodyOf(START + 1), bodyOf(START + 2)],
    });
    expect(heard).toEqual([START + 1, START + 2]);
    expect(await follower.catchUp()).toBeNull();
  });

  test('[N-10] what comes with its bodies is shown while this node does not reach the database', async () => {
    const { follower, heard, store } = testFollower();
    store.watermark = START + 1;
    store.isUnavailableFor = 'bodies';
    expect(await follower.catchUp().catch((e) => e)).toBeInstanceOf(Unavailable);
    store.isUnavailableFor = 'all';
    expect(await follower.catchUp().catch((e) => e)).toBeInstanceOf(Unavailable);
    for (const n of [1, 2, 3]) await follower.take(entry(START + n));
    expect(heard).toEqual([START + 1, START + 2, START + 3]);
  });

  test('[N-11] a long gap is filled in steps, each of which stays when the next one fails', async () => {
    const { follower, heard, log, store } = testFollower();
    store.watermark = START + 40;
    store.readsUntilUnavailable = 2;
    expect(await follower.catchUp().catch((e) => e)).toBeInstanceOf(Unavailable);
    const shown = log.sealedTo();
    expect(shown).toBeGreaterThan(START);
    store.readsUntilUnavailable = Number.POSITIVE_INFINITY;
    expect(await follower.catchUp()).toMatchObject({ after: shown, interval: START + 40 });
    expect(heard).toEqual(Array.from({ length: 40 }, (_, n) => START + 1 + n));
  });

  test('[N-22] what the database lost is not shown as empty, and is written back by who has it', async () => {
    const { follower, heard, log, store } = testFollower();
    store.watermark = START + 5;
    for (const n of [1, 2, 3, 4, 5]) await follower.take(entry(START + n));
    store.watermark = START + 3;
    expect(await follower.take(entry(START + 9)).catch((e) => e)).toBeInstanceOf(
      DatabaseRolledBack,
    );
    expect(log.sealedTo()).toBe(START + 5);
    while ((await follower.catchUp().catch((e) => e)) instanceof DatabaseRolledBack) {
      await Bun.sleep(20);
    }
    expect(store.watermark).toBe(START + 5);
    expect(heard).toEqual([1, 2, 3, 4, 5].map((n) => START + n));
  });
});
