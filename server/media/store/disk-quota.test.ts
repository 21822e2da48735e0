import { afterEach, expect, test } from 'bun:test';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  addSegments,
  createFixture,
  epochOf,
  expectedDigest,
  range,
  readDigest,
  removeFixtures,
  STREAM,
  seqsOf,
  startStream,
} from '../../../test/support/media/segment-store-fixture.ts';
import { localDisk } from './disk.ts';

const OTHER = '1b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const HOUR_MS = 3_600_000;

afterEach(removeFixtures);

test('[M-28] the quota evicts the oldest segments of ended streams first, then of live ones', async () => {
  const spaceBytes = 100 * 8192;
  const fixture = await createFixture({ spaceBytes, dvrMs: HOUR_MS });
  const store = await fixture.start();
  const ended = await store.open(OTHER);
  ended.setRetention('recording');
  ended.addEpoch(epochOf(0));
  await addSegments(fixture, ended, range(0, 40), { videoBytes: 5000 });
  await ended.close(true);
  const segments = await store.open(STREAM);
  segments.addEpoch(epochOf(0));
  await addSegments(fixture, segments, range(0, 80), { videoBytes: 5000 });
  await segments.close(false);
  expect(store.stats().bytes).toBe(spaceBytes);
  expect(seqsOf(await store.find(OTHER))).toEqual(range(20, 40));
  expect(seqsOf(segments)).toEqual(range(0, 80));
  await addSegments(fixture, segments, range(80, 130), { videoBytes: 5000 });
  await segments.close(false);
  expect(await store.find(OTHER)).toBeNull();
  expect(seqsOf(segments)).toEqual(range(30, 130));
  expect(store.stats()).toEqual({ bytes: spaceBytes, evicted: 70, fullStreams: 0 });
  expect(await readDigest(segments, 29)).toBeNull();
  expect(await readDigest(segments, 30)).toBe(expectedDigest(30, 5000));
});

test('[M-28] the quota evicts an ended stream before an older live one', async () => {
  const { fixture, store, segments } = await startStream({
    spaceBytes: 100 * 4096,
    dvrMs: HOUR_MS,
  });
  await addSegments(fixture, segments, range(0, 50));
  const ended = await store.open(OTHER);
  ended.addEpoch(epochOf(0));
  await addSegments(fixture, ended, range(20, 60));
  await ended.close(true);
  await addSegments(fixture, segments, range(50, 80));
  expect(seqsOf(segments)).toEqual(range(0, 80));
  expect(seqsOf(ended)).toEqual(range(40, 60));
});

test('[M-28] the quota evicts from the account with the most video, also when that is live', async () => {
  const fixture = await createFixture({ spaceBytes: 100 * 4096, dvrMs: HOUR_MS });
  const store = await fixture.start();
  const ended = await store.open(OTHER);
  ended.setAccount('one');
  ended.setRetention('recording');
  ended.addEpoch(epochOf(0));
  await addSegments(fixture, ended, range(0, 40));
  await ended.close(true);
  const live = await store.open(STREAM);
  live.setAccount('two');
  live.addEpoch(epochOf(0));
  await addSegments(fixture, live, range(0, 100));
  expect([seqsOf(ended), seqsOf(live)]).toEqual([range(0, 40), range(40, 100)]);
  // After a restart the accounts are known, too.
  await live.close(false);
  const restarted = await fixture.start();
  const continued = await restarted.open(STREAM);
  await addSegments(fixture, continued, range(100, 120));
  expect(seqsOf(await restarted.find(OTHER))).toEqual(range(0, 40));
  expect(seqsOf(continued)).toEqual(range(60, 120));
});

test('[M-28] the quota evicts from others when the account with the most video has only protected segments', async () => {
  const { fixture, store, segments } = await startStream({ spaceBytes: 40 * 4096, dvrMs: HOUR_MS });
  const ended = await store.open(OTHER);
  ended.setAccount('one');
  ended.addEpoch(epochOf(0));
  await addSegments(fixture, ended, range(0, 20));
  await ended.close(true);
  segments.setAccount('two');
  await addSegments(fixture, segments, range(0, 30));
  expect([seqsOf(ended), seqsOf(segments)]).toEqual([range(10, 20), range(0, 30)]);
});

test('[M-27] [M-28] the store logs evictions from a recording once a minute', async () => {
  // Other programs write to the disk of this machine meanwhile.
  const disk = { ...localDisk, freeBytes: async () => null };
  const fixture = await createFixture({ disk, spaceBytes: 100 * 4096, dvrMs: HOUR_MS });
  const store = await fixture.start();
  const other = await store.open(OTHER);
  other.addEpoch(epochOf(0));
  await addSegments(fixture, other, range(0, 50));
  await other.close(true);
  const segments = await store.open(STREAM);
  segments.setRetention('recording');
  segments.addEpoch(epochOf(0));
  await addSegments(fixture, segments, range(0, 100));
  expect(fixture.lines).toEqual([]);
  for (const seq of range(100, 250)) await addSegments(fixture, segments, [seq]);
  expect(seqsOf(segments)).toEqual(range(150, 250));
  expect(fixture.lines).toMatchObject(
    [1, 61, 121].map((segments) => ({ level: 30, stream: STREAM, segments })),
  );
});

test('[M-28] writers that evict at the same time free what is missing once', async () => {
  const { fixture, segments } = await startStream({ spaceBytes: 1_000 * 4096, dvrMs: HOUR_MS });
  await addSegments(fixture, segments, range(0, 100));
  await segments.close(true);
  const store = await fixture.start({ spaceBytes: 80 * 4096 });
  const writers = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const writer = await store.open(crypto.randomUUID());
      writer.addEpoch(epochOf(0));
      return writer;
    }),
  );
  await Promise.all(writers.map((writer) => addSegments(fixture, writer, range(0, 1))));
  // 20 too many, and one for each writer at most.
  const { evicted } = store.stats();
  expect(evicted).toBeGreaterThanOrEqual(20);
  expect(evicted).toBeLessThanOrEqual(28);
});

test('[M-28] epochs whose segments were evicted from a recording are removed', async () => {
  const fixture = await createFixture({ spaceBytes: 60 * 4096, dvrMs: HOUR_MS });
  const store = await fixture.start();
  const recording = await store.open(STREAM);
  recording.setRetention('recording');
  for (const epoch of range(0, 100)) {
    recording.addEpoch(epochOf(epoch));
    await addSegments(fixture, recording, [epoch], { epoch });
  }
  expect(seqsOf(recording)).toEqual(range(40, 100));
  await store.sweep();
  const names = await readdir(join(fixture.directory, STREAM));
  const epochs = names.filter((name) => name.endsWith('.epoch'));
  expect(new Set(epochs)).toEqual(new Set(range(40, 100).map((epoch) => `${epoch}.epoch`)));
});
