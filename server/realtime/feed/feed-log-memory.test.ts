import { describe, expect, test } from 'bun:test';
import { openShow, uuidOf } from '../../../test/support/streams/show-fixture.ts';
import { APPENDED_MAX, MemoryFeedLog } from './feed-log-memory.ts';
import type { SealedBody } from './sealed-sql.ts';
import { RANGE_BYTES } from './stored-intervals.ts';

const STREAM = 'a stream';
const decoder = new TextDecoder();

test('[I-1] a database read under way never answers for intervals sealed since', async () => {
  const stored: SealedBody[] = [];
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let reads = 0;
  const log = new MemoryFeedLog(
    {
      // A snapshot: what was stored at the call. The first call returns it after `released`.
      readSealed: async ({ from, to }) => {
        const seen = stored.filter(({ interval }) => interval >= from && interval <= to);
        if (reads++ === 0) {
          started.resolve();
          await released.promise;
        }
        return seen;
      },
    },
    100,
  );
  const before = log.read(STREAM, 100);
  await started.promise;
  const body = '{"interval":101,"events":[{"type":"tick","data":null}]}';
  stored.push({ streamId: STREAM, interval: 101, body });
  log.skipTo(120);
  const after = log.read(STREAM, 101);
  released.resolve();
  expect(decoder.decode(await before)).toBe('{"interval":100,"events":[]}');
  expect(decoder.decode(await after)).toBe(body);
});

test('[F-8] the cache counts pages without rows at their real size, so that reads of them fill no memory', async () => {
  let reads = 0;
  const readSealed = async () => {
    reads++;
    return [];
  };
  const log = new MemoryFeedLog({ readSealed }, 7_000_000_000);
  await log.read(STREAM, 0);
  await log.read(STREAM, 63);
  expect(reads).toBe(1);
  // By then a cache of 64 MB has evicted a page of 500 bytes or more.
  const pages = (64 * 2 ** 21) / 1_000;
  for (let page = 1; page <= pages; page++) await log.read(STREAM, page * 64);
  await log.read(STREAM, 0);
  expect(reads).toBe(Math.floor(pages) + 2);
});

describe('a range', () => {
  const LARGE = 90_000;
  const FIRST = 7_000_000_000;

  /**
   * A log of a real database with ten large intervals in a row, and later ones that are empty.
   * @param watermark of the log
   */
  async function openLogWithLargeBodies(sealedLater: number, watermark = FIRST + 9 + sealedLater) {
    const show = await openShow([uuidOf(1)]);
    const { store } = show;
    for (let n = 0; n < 10; n++) {
      const interval = FIRST + n;
      const messages = [{ id: '1', viewer: '', name: '', text: 'x'.repeat(LARGE), at: 0 }];
      const chats = { messages, questions: [], greetings: [], cheers: [], hearts: 0 };
      const after = await store.readWatermark({});
      const transients = [{ streamId: uuidOf(1), viewCount: null, chats }];
      await store.sealInterval({ after, interval, nowMs: interval * 250, transients });
    }
    const sealed = FIRST + 9 + sealedLater;
    await store.sealInterval({ after: FIRST + 9, interval: sealed, nowMs: 0, transients: [] });
    let reads = 0;
    const counting = {
      readSealed: (input: Parameters<typeof store.readSealed>[0]) => {
        reads++;
        return store.readSealed(input);
      },
    };
    const log = new MemoryFeedLog(counting, watermark);
    return { log, show, reads: () => reads };
  }

  for (const [age, sealedLater] of [
    ['minutes', 500],
    ['hours', 100_000],
  ] as const) {
    test(`[F-21] of bodies from ${age} ago comes in pages of bounded size`, async () => {
      const { log, show } = await openLogWithLargeBodies(sealedLater);
      const intervals: number[] = [];
      for (let next = FIRST; next < FIRST + 10; ) {
        const range = await log.range(uuidOf(1), next, log.watermark());
        const bytes = range.page.reduce((sum, { body }) => sum + body.length, 0);
        expect(bytes).toBeLessThan(RANGE_BYTES + 2 * LARGE);
        expect(range.next).toBeGreaterThan(next);
        intervals.push(...range.page.map(({ interval }) => interval));
        next = range.next;
      }
      expect(intervals.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, n) => FIRST + n));
      await show.close();
    });
  }

  test('[F-21] has a page of its own for a large body', async () => {
    const body = `{"interval":5,"events":[{"type":"t","data":"${'x'.repeat(2 * RANGE_BYTES)}"}]}`;
    const log = new MemoryFeedLog({ readSealed: async () => [] }, 4);
    log.append(5, [{ streamId: STREAM, interval: 5, body }]);
    log.append(6, []);
    const { page, next } = await log.range(STREAM, 5, 6);
    expect(page.map(({ interval }) => interval)).toEqual([5]);
    expect(next).toBe(6);
  });

  test('[F-21] comes from memory for the last minute, and before that from one database read of each page for many readers', async () => {
    const { log, show, reads } = await openLogWithLargeBodies(10, FIRST + 9);
    for (let interval = FIRST + 10; interval < FIRST + 20; interval++) log.append(interval, []);
    const crowd = Array.from({ length: 50 });
    const all = (from: number) =>
      Promise.all(crowd.map(() => log.range(uuidOf(1), from, log.watermark())));
    const recent = await all(FIRST + 12);
    expect(reads()).toBe(0);
    for (const { page, next } of recent) {
      expect(page.map(({ interval }) => interval - FIRST)).toEqual([
        12, 13, 14, 15, 16, 17, 18, 19,
      ]);
      expect(next).toBe(FIRST + 20);
    }
    await all(FIRST + 5);
    expect(reads()).toBe(2);
    await show.close();
  });
});

test('[N-10] after a long absence the newest intervals are in memory, safe from another outage', async () => {
  const start = 7_000_000_000;
  const log = new MemoryFeedLog(
    { readSealed: () => Promise.reject(new Error('unavailable')) },
    start,
  );
  const to = start + 10 * APPENDED_MAX;
  const first = to - APPENDED_MAX + 1;
  log.publishSealed(to, [
    { streamId: 's', interval: first - 1, body: 'before' },
    { streamId: 's', interval: first, body: 'first' },
    { streamId: 's', interval: to, body: 'last' },
  ]);
  const text = (interval: number) => decoder.decode(log.read('s', interval) as Uint8Array);
  expect(text(first)).toBe('first');
  for (let n = first + 1; n < to; n++) expect(text(n)).toBe(`{"interval":${n},"events":[]}`);
  expect(text(to)).toBe('last');
  const error = await Promise.resolve(log.read('s', first - 1)).catch((e) => e);
  expect(error).toBeInstanceOf(Error);
});
