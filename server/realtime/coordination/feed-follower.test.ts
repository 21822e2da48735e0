import { describe, expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { DatabaseRolledBack, type SealedBody } from '../feed/sealed-sql.ts';
import { FeedFollower } from './feed-follower.ts';
import type { PublicationReply, SealedEntry } from './seal-coordinator.ts';

const STREAM = 's';
const START = 7_000_000_000;
const decoder = new TextDecoder();

const bodyOf = (interval: number): SealedBody => ({
  streamId: STREAM,
  interval,
  body: `{"interval":${interval},"events":[{"type":"t","data":null}]}`,
});
const TIMELINE = '7:1';
const acceptPublication = async ({ interval }: SealedEntry): Promise<PublicationReply> => ({
  ...{ isPublished: true, published: interval, timeline: TIMELINE },
});
const entry = (interval: number): SealedEntry => ({
  after: interval - 1,
  interval,
  bodies: [bodyOf(interval)],
});

/** A follower on a fake database that has a body in every interval up to its watermark. */
function testFollower(watermark = START) {
  const store = {
    watermark,
    timeline: TIMELINE,
    reads: 0,
    /** The watermark of a standby that is promoted after the next read of the watermark. */
    standbyWatermark: null as number | null,
    isUnavailableFor: 'nothing' as 'nothing' | 'bodies' | 'all',
    readsUntilUnavailable: Number.POSITIVE_INFINITY,
  };
  const between = (from: number, to: number) =>
    Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => bodyOf(from + n));
  const calls = {
    readWatermark: async () => {
      if (store.isUnavailableFor === 'all') throw new Unavailable('unavailable');
      const { watermark: read, standbyWatermark } = store;
      if (standbyWatermark !== null) store.watermark = standbyWatermark;
      return read;
    },
    readSealedOfAll: async ({ from, to }: { from: number; to: number }) => {
      if (store.isUnavailableFor !== 'nothing') throw new Unavailable('unavailable');
      if (store.reads === store.readsUntilUnavailable) throw new Unavailable('unavailable');
      store.reads++;
      if (store.watermark < to) throw new DatabaseRolledBack(store.watermark, to);
      return { timeline: store.timeline, bodies: between(from, to) };
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
  const received: number[] = [];
  log.subscribe(STREAM, (interval, body) => {
    expect(decoder.decode(body)).toBe(bodyOf(interval).body);
    received.push(interval);
  });
  const follower = new FeedFollower({
    coordinator: { follow: async () => [] },
    store: calls,
    log,
    random: () => 0.5,
    onPublished: () => {},
    onError: () => {},
  });
  const catchUp = () => follower.catchUp(acceptPublication);
  return { follower, log, store, received, catchUp };
}

describe('a node that follows the feed', () => {
  test('[N-4] a node that follows the feed serves intervals in order, each once, in whatever order entries come', async () => {
    const { follower, received, store } = testFollower();
    store.watermark = START + 3;
    for (const interval of [1, 1, 2, 1, 3, 2]) await follower.apply(entry(START + interval));
    expect(received).toEqual([START + 1, START + 2, START + 3]);
    expect(store.reads).toBe(0);
  });

  test('[N-4] [I-1] a node that follows the feed fills a gap in the log from the database first', async () => {
    const { follower, received, store } = testFollower();
    store.watermark = START + 5;
    await follower.apply(entry(START + 1));
    await follower.apply(entry(START + 5));
    expect(received).toEqual([1, 2, 3, 4, 5].map((n) => START + n));
    expect(store.reads).toBe(1);
  });

  test('[N-10] a node that follows the feed serves nothing after a gap that the database cannot fill now', async () => {
    const { follower, received, log, store } = testFollower();
    store.watermark = START + 5;
    store.isUnavailableFor = 'all';
    const error = await follower.apply(entry(START + 5)).catch((e) => e);
    expect(error).toBeInstanceOf(Unavailable);
    expect(log.watermark()).toBe(START);
    store.isUnavailableFor = 'nothing';
    await follower.apply(entry(START + 5));
    expect(received).toEqual([1, 2, 3, 4, 5].map((n) => START + n));
  });

  test('[I-1] [N-22] a node that follows the feed serves nothing from a database that lost it since the watermark was read', async () => {
    const { received, store, catchUp } = testFollower();
    store.watermark = START + 5;
    store.standbyWatermark = START + 4;
    expect(await catchUp().catch((e) => e)).toBeInstanceOf(DatabaseRolledBack);
    expect(received).toEqual([]);
    store.standbyWatermark = null;
    await catchUp();
    expect(received).toEqual([1, 2, 3, 4].map((n) => START + n));
  });

  test('[F-16] a node that follows the feed serves intervals together that were sealed together', async () => {
    const { follower, log, store } = testFollower();
    store.watermark = START + 9;
    const bodies = Array.from({ length: 9 }, (_, n) => bodyOf(START + 1 + n));
    await follower.apply({ after: START, interval: START + 9, bodies });
    expect(log.watermark()).toBe(START + 9);
    expect(store.reads).toBe(0);
  });

  test('[N-4] a node that follows the feed reads bodies from the database that were too large for the log', async () => {
    const { follower, received, store } = testFollower();
    store.watermark = START + 2;
    await follower.apply({ after: START, interval: START + 2, bodies: null });
    expect(received).toEqual([START + 1, START + 2]);
  });

  test('[N-11] a node that follows the feed reads only the newest intervals after a long absence', async () => {
    const { follower, received, log, store } = testFollower();
    store.watermark = START + 1_000;
    await follower.apply(entry(START + 1_000));
    expect(log.watermark()).toBe(START + 1_000);
    expect(received.length).toBeLessThan(50);
    const old = await log.read(STREAM, START + 300);
    expect(decoder.decode(old)).toBe(bodyOf(START + 300).body);
  });

  test('[I-1] [N-4] a node that follows the feed finds intervals in the database without the log, and publishes them before it serves them', async () => {
    const { follower, received, store } = testFollower();
    const published: SealedEntry[] = [];
    const catchUp = (hasFailed: boolean) =>
      follower.catchUp(async (found, timeline) => {
        expect([received, timeline]).toEqual([[], TIMELINE]);
        published.push(found);
        return hasFailed ? null : acceptPublication(found);
      });
    expect(await catchUp(false)).toBe(false);
    store.watermark = START + 2;
    const bodies = [bodyOf(START + 1), bodyOf(START + 2)];
    const found = { after: START, interval: START + 2, bodies };
    expect(await catchUp(true)).toBe(false);
    expect(received).toEqual([]);
    expect(await catchUp(false)).toBe(true);
    expect(published).toEqual([found, found]);
    expect(received).toEqual([START + 1, START + 2]);
    expect(await catchUp(false)).toBe(false);
  });

  test('[I-1] [N-22] a node that follows the feed serves what the database has after others have published it', async () => {
    const { follower, received, store } = testFollower();
    store.watermark = START + 1;
    const readsWhenPublished: number[] = [];
    await follower.catchUp(async () => {
      readsWhenPublished.push(store.reads);
      return { isPublished: false, published: START + 1, timeline: TIMELINE };
    });
    expect([readsWhenPublished, store.reads]).toEqual([[1], 2]);
    expect(received).toEqual([START + 1]);
  });

  test('[I-1] [N-22] a node that follows the feed serves nothing of a refused publication that others have not published', async () => {
    const { follower, received, store } = testFollower();
    store.watermark = START + 3;
    const refusedAt = (published: number) =>
      follower.catchUp(async () => ({ isPublished: false, published, timeline: TIMELINE }));
    expect(await refusedAt(START)).toBe(false);
    expect(received).toEqual([]);
    expect(await refusedAt(START + 2)).toBe(true);
    expect(received).toEqual([START + 1, START + 2]);
  });

  test('[I-1] [N-22] a node that follows the feed reads and publishes again after it named the timeline', async () => {
    const { follower, received, store } = testFollower();
    store.watermark = START + 1;
    const readsWhenPublished: number[] = [];
    await follower.catchUp(async (found) => {
      readsWhenPublished.push(store.reads);
      if (readsWhenPublished.length > 1) return acceptPublication(found);
      return { isPublished: false, published: START + 1, timeline: '' };
    });
    expect(readsWhenPublished).toEqual([1, 2]);
    expect(received).toEqual([START + 1]);
  });

  test('[I-1] [N-22] a node that follows the feed serves nothing of an earlier primary that other nodes have sealed again', async () => {
    const { follower, received, store } = testFollower();
    store.watermark = START + 1;
    const refused = { isPublished: false, published: START + 1 };
    expect(await follower.catchUp(async () => ({ ...refused, timeline: '7:2' }))).toBe(false);
    await follower.catchUp(async () => {
      store.timeline = '7:0';
      return { ...refused, timeline: TIMELINE };
    });
    expect(received).toEqual([]);
  });

  test('[N-10] a node that follows the feed serves entries with bodies while it cannot reach the database', async () => {
    const { follower, received, store, catchUp } = testFollower();
    store.watermark = START + 1;
    store.isUnavailableFor = 'bodies';
    expect(await catchUp().catch((e) => e)).toBeInstanceOf(Unavailable);
    store.isUnavailableFor = 'all';
    expect(await catchUp().catch((e) => e)).toBeInstanceOf(Unavailable);
    for (const n of [1, 2, 3]) await follower.apply(entry(START + n));
    expect(received).toEqual([START + 1, START + 2, START + 3]);
  });

  test('[N-11] a node that follows the feed fills a long gap in steps, and keeps finished steps when one fails', async () => {
    const { received, log, store, catchUp } = testFollower();
    store.watermark = START + 40;
    store.readsUntilUnavailable = 2;
    expect(await catchUp().catch((e) => e)).toBeInstanceOf(Unavailable);
    const served = log.watermark();
    expect(served).toBeGreaterThan(START);
    store.readsUntilUnavailable = Number.POSITIVE_INFINITY;
    expect(await catchUp()).toBe(true);
    expect(received).toEqual(Array.from({ length: 40 }, (_, n) => START + 1 + n));
  });

  test('[N-22] a node that follows the feed does not serve lost intervals as empty, and writes back those that it has', async () => {
    const { follower, received, log, store, catchUp } = testFollower();
    store.watermark = START + 5;
    for (const n of [1, 2, 3, 4, 5]) await follower.apply(entry(START + n));
    store.watermark = START + 3;
    expect(await follower.apply(entry(START + 9)).catch((e) => e)).toBeInstanceOf(
      DatabaseRolledBack,
    );
    expect(log.watermark()).toBe(START + 5);
    while ((await catchUp().catch((e) => e)) instanceof DatabaseRolledBack) {
      await Bun.sleep(20);
    }
    expect(store.watermark).toBe(START + 5);
    expect(received).toEqual([1, 2, 3, 4, 5].map((n) => START + n));
  });
});
