import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FaultyDisk } from '../../../test/support/media/faulty-disk.ts';
import {
  addSegments,
  createFixture,
  epochOf,
  expectedDigest,
  gapsOf,
  range,
  readDigest,
  removeFixtures,
  STREAM,
  segmentOf,
  seqsOf,
  startStream,
} from '../../../test/support/media/segment-store-fixture.ts';
import { localDisk } from './disk.ts';

const OTHER = '1b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';

afterEach(removeFixtures);

test.each(['EIO', 'EROFS', 'ENOSPC'])(
  '[M-27] [M-29] on %s the stream continues from memory, logs once and keeps what was recorded',
  async (code) => {
    const disk = new FaultyDisk();
    const { fixture, store, segments } = await startStream({ disk });
    segments.setRetention('recording');
    await addSegments(fixture, segments, range(0, 50));
    disk.failure = code;
    await addSegments(fixture, segments, range(50, 70));
    expect(segments.hasWriteFault).toBe(true);
    expect(store.stats().fullStreams).toBe(1);
    expect(segments.retention).toBe('recording');
    // On a full disk, some of the oldest segments are evicted.
    const [from = 0] = seqsOf(segments);
    expect(from).toBeWithin(0, code === 'ENOSPC' ? 10 : 1);
    expect([seqsOf(segments), gapsOf(segments)]).toEqual([range(from, 70), []]);
    const { writes } = disk;
    await addSegments(fixture, segments, range(70, 500));
    // Writes are retried from time to time, not for each segment.
    expect(disk.writes - writes).toBeGreaterThan(5);
    expect(disk.writes - writes).toBeLessThan(30);
    const [oldest = 0] = seqsOf(segments);
    expect(oldest).toBeWithin(from, code === 'ENOSPC' ? 21 : 1);
    expect(seqsOf(segments)).toEqual([...range(oldest, 50), ...range(469, 500)]);
    expect(gapsOf(segments)).toEqual(range(50, 469));
    for (const seq of seqsOf(segments))
      expect(await readDigest(segments, seq)).toBe(expectedDigest(seq));
    for (const seq of gapsOf(segments)) expect(await readDigest(segments, seq)).toBeNull();
    // Not warnings about the free space of this machine, to which other programs write.
    const lines = fixture.lines.filter(({ level }) => level === 50);
    expect(lines).toMatchObject([{ level: 50, stream: STREAM, err: { code } }]);

    disk.failure = null;
    await addSegments(fixture, segments, range(500, 600));
    expect([segments.hasWriteFault, segments.retention]).toEqual([false, 'recording']);
    expect(store.stats().fullStreams).toBe(0);
    expect(fixture.lines.at(-1)).toMatchObject({ level: 40, stream: STREAM });
    const first = (gapsOf(segments).at(-1) ?? 0) + 1;
    expect(first).toBeLessThan(500);
    expect(gapsOf(segments)).toEqual(range(50, first));
    expect(seqsOf(segments)).toEqual([...range(oldest, 50), ...range(first, 600)]);
    await segments.close(true);
    const after = await (await fixture.start()).open(STREAM);
    expect(after.segments).toEqual(segments.segments);
    for (const seq of seqsOf(after)) expect(await readDigest(after, seq)).toBe(expectedDigest(seq));
  },
);

test('[M-29] a write error that ends before the buffer is full loses nothing', async () => {
  const disk = new FaultyDisk();
  const { fixture, store, segments } = await startStream({ disk });
  await addSegments(fixture, segments, range(0, 10));
  disk.failure = 'EIO';
  await addSegments(fixture, segments, range(10, 20));
  disk.failure = null;
  // The source has left, so only the sweep retries.
  fixture.clock.nowMs += 20_000;
  await store.sweep();
  expect(segments.hasWriteFault).toBe(true);
  fixture.clock.nowMs += 15_000;
  await store.sweep();
  await segments.whenWritten();
  expect([segments.hasWriteFault, segments.retention]).toEqual([false, 'dvr']);
  expect(seqsOf(await (await fixture.start()).find(STREAM))).toEqual(range(0, 20));
});

test('[M-29] StreamSegments.close retries a failed write', async () => {
  const disk = new FaultyDisk();
  const { fixture, segments } = await startStream({ disk });
  disk.failure = 'EIO';
  await addSegments(fixture, segments, range(0, 10));
  disk.failure = null;
  await segments.close(true);
  expect([segments.hasWriteFault, segments.retention]).toEqual([false, 'dvr']);
  expect(seqsOf(await (await fixture.start()).find(STREAM))).toEqual(range(0, 10));
});

test('[M-29] a disk that hangs limits memory to the newest segments', async () => {
  const disk = new FaultyDisk();
  const { fixture, segments } = await startStream({ disk });
  await addSegments(fixture, segments, range(0, 10));
  disk.hang();
  const { writes } = disk;
  for (const seq of range(10, 300)) segments.add(...segmentOf(seq));
  expect(segments.hasWriteFault).toBe(true);
  while (disk.writes === writes) await Bun.sleep(0);
  expect(disk.writes).toBe(writes + 1);
  expect(seqsOf(segments)).toEqual([...range(0, 10), ...range(269, 300)]);
  for (const seq of range(10, 269)) expect(segments.read(0, seq, 'v0')).toBeNull();
  expect(fixture.lines).toHaveLength(1);
  disk.resume();
  await segments.whenWritten();
  // The write that was hanging has succeeded.
  expect(seqsOf(segments)).toEqual([...range(0, 11), ...range(269, 300)]);
  expect([segments.hasWriteFault, segments.retention]).toEqual([false, 'dvr']);
  expect((await (await fixture.start()).find(STREAM))?.segments).toEqual([...segments.segments]);
});

test('[M-29] the buffer is limited in bytes but holds at least four segments', async () => {
  const disk = new FaultyDisk();
  const { segments } = await startStream({ disk });
  disk.hang();
  const large = new Uint8Array(40 << 20);
  const add = (seq: number, bytes: number) =>
    segments.add(segmentOf(seq)[0], new Map([['v0', large.subarray(0, bytes)]]));
  for (const seq of range(0, 20)) add(seq, 10 << 20);
  expect(seqsOf(segments)).toEqual(range(14, 20));
  for (const seq of range(20, 30)) add(seq, 40 << 20);
  expect(seqsOf(segments)).toEqual(range(26, 30));
  disk.failure = 'EIO';
  disk.resume();
  await segments.close(false);
});

test('SegmentStore.close does not wait forever for a disk that hangs', async () => {
  const disk = new FaultyDisk();
  const fixture = await createFixture({ disk });
  const store = await fixture.start({ closeTimeoutMs: 10 });
  const segments = await store.open(STREAM);
  segments.addEpoch(epochOf(0));
  disk.hang();
  segments.add(...segmentOf(0));
  await store.close();
  expect(await readDigest(segments, 0)).toBe(expectedDigest(0));
  disk.resume();
  await segments.whenWritten();
});

test('unwritten segments are dropped a minute after the end', async () => {
  const disk = new FaultyDisk();
  const { fixture, store, segments } = await startStream({ disk });
  await addSegments(fixture, segments, range(0, 5));
  disk.failure = 'EIO';
  await addSegments(fixture, segments, range(5, 10));
  await segments.close(true);
  await store.sweep();
  expect(await readDigest(segments, 9)).toBe(expectedDigest(9));
  fixture.clock.nowMs += 61_000;
  await store.sweep();
  expect(seqsOf(segments)).toEqual(range(0, 5));
  expect(segments.read(0, 9, 'v0')).toBeNull();
});

test('[M-11] dropped segments become gaps and their numbers are not reused', async () => {
  const disk = new FaultyDisk();
  const { fixture, store, segments } = await startStream({ disk });
  await addSegments(fixture, segments, range(0, 5));
  disk.failure = 'EIO';
  await addSegments(fixture, segments, range(5, 50));
  fixture.clock.nowMs += 61_000;
  await store.sweep();
  expect([seqsOf(segments), gapsOf(segments), segments.nextSeq]).toEqual([range(0, 5), [], 50]);
  disk.failure = null;
  segments.addEpoch(epochOf(1));
  await addSegments(fixture, segments, range(50, 60), { epoch: 1 });
  expect(seqsOf(segments)).toEqual([...range(0, 5), ...range(50, 60)]);
  expect(gapsOf(segments)).toEqual(range(5, 50));
});

test('[M-28] the quota leaves the configured free space to others', async () => {
  const disk = new FaultyDisk();
  const fixture = await createFixture({ disk, minFreeBytes: 1 << 30 });
  const free = { bytes: (1 << 30) + 40 * 8192 };
  const store = await fixture.start();
  Object.assign(disk, { freeBytes: async () => free.bytes - store.stats().bytes });
  await store.sweep();
  const segments = await store.open(STREAM);
  segments.addEpoch(epochOf(0));
  // Each takes 8192 bytes on disk.
  await addSegments(fixture, segments, range(0, 100), { videoBytes: 7500 });
  expect([segments.hasWriteFault, segments.retention]).toEqual([false, 'dvr']);
  const count = seqsOf(segments).length;
  expect(count).toBeGreaterThanOrEqual(39);
  expect(count).toBeLessThan(45);
  // Others take the rest: the live window stays, and the stream continues from memory.
  free.bytes = 1 << 20;
  await store.sweep();
  const before = seqsOf(segments);
  expect(before.length).toBeLessThan(33);
  await addSegments(fixture, segments, range(100, 200), { videoBytes: 7500 });
  expect(segments.hasWriteFault).toBe(true);
  expect(seqsOf(segments)).toEqual([...before, ...range(169, 200)]);
});

const SEGMENT_BYTES = 8192;
const RESERVE_BYTES = 1 << 30;

/**
 * An ended recording of 500 segments on a file system that has the reserve free, and nothing more.
 * @param releasesSpace whether the space of evicted segments is free at once
 */
async function startAtReserve(releasesSpace: boolean, reserveBytes = RESERVE_BYTES) {
  const disk = new FaultyDisk();
  const fixture = await createFixture({ disk, minFreeBytes: reserveBytes, dvrMs: 3_600_000 });
  const store = await fixture.start();
  const segments = await store.open(STREAM);
  segments.setRetention('recording');
  segments.addEpoch(epochOf(0));
  await addSegments(fixture, segments, range(0, 500), { videoBytes: 7500 });
  await segments.close(true);
  const fullBytes = store.stats().bytes;
  const space = { freeBytes: reserveBytes, releasesSpace };
  const freeBytes = () =>
    space.freeBytes + (space.releasesSpace ? fullBytes - store.stats().bytes : 0);
  Object.assign(disk, { freeBytes: async () => freeBytes() });
  return {
    disk,
    fixture,
    store,
    space,
    freeBytes,
    lines: () => fixture.lines.filter(({ level }) => level === 40),
    evicted: () => store.stats().evicted,
    /** Other programs write, and a second later the store sweeps. */
    async sweepAfter(segmentsOfOthers: number): Promise<void> {
      space.freeBytes -= segmentsOfOthers * SEGMENT_BYTES;
      fixture.clock.nowMs += 1_000;
      await store.sweep();
    },
  };
}

test('[M-28] space of evicted segments that is not free yet is not evicted again for a minute', async () => {
  const { space, lines, evicted, sweepAfter } = await startAtReserve(false);
  await sweepAfter(50);
  for (let second = 1; second < 60; second++) await sweepAfter(0);
  expect([evicted(), lines()]).toEqual([50, []]);
  for (let second = 60; second < 170; second++) await sweepAfter(0);
  expect(evicted()).toBe(150);
  expect(lines()).toMatchObject([{ level: 40, bytes: 50 * SEGMENT_BYTES }]);
  // What others write meanwhile is missing in addition.
  await sweepAfter(7);
  expect(evicted()).toBe(157);
  space.releasesSpace = true;
  for (let second = 0; second < 200; second++) await sweepAfter(0);
  expect([evicted(), lines().length]).toEqual([157, 1]);
});

test('[M-28] a disk that other programs fill is kept at the reserve, second for second', async () => {
  const { freeBytes, lines, evicted, sweepAfter } = await startAtReserve(true);
  for (let second = 0; second < 100; second++) {
    await sweepAfter(4);
    expect(freeBytes()).toBe(RESERVE_BYTES);
  }
  expect([evicted(), lines()]).toEqual([400, []]);
});

// Small, so that the test reaches half of it.
const SMALL_RESERVE_BYTES = 100 * SEGMENT_BYTES;

test('[M-28] a source leaves half of the reserve free while evicted segments free no space', async () => {
  const { disk, fixture, store, space, freeBytes, evicted } = await startAtReserve(
    false,
    SMALL_RESERVE_BYTES,
  );
  const live = await store.open(OTHER);
  live.addEpoch(epochOf(0));
  await store.sweep();
  const { write } = disk;
  disk.write = async (path, chunks) => {
    await write.call(disk, path, chunks);
    if (path.endsWith('.segment')) space.freeBytes -= SEGMENT_BYTES;
  };
  for (const seq of range(500, 700)) {
    await addSegments(fixture, live, [seq], { videoBytes: 7500 });
    expect(freeBytes()).toBeGreaterThanOrEqual(SMALL_RESERVE_BYTES / 2);
  }
  // The stream continues from memory.
  expect(live.hasWriteFault).toBe(true);
  expect(evicted()).toBeLessThan(200);
});

test('[M-28] what other programs write during an eviction does not count as free', async () => {
  const { disk, fixture, space, freeBytes, sweepAfter } = await startAtReserve(
    true,
    SMALL_RESERVE_BYTES,
  );
  // They write 20 segments a second, 0.6 while one is removed.
  Object.assign(disk, {
    remove: async (path: string) => {
      await localDisk.remove(path);
      fixture.clock.nowMs += 30;
      space.freeBytes -= 0.6 * SEGMENT_BYTES;
    },
  });
  for (let second = 0; second < 8; second++) {
    await sweepAfter(20);
    expect(freeBytes()).toBeGreaterThanOrEqual(SMALL_RESERVE_BYTES / 2);
  }
});

test('[M-28] far below the reserve, segments are evicted once for space that becomes free late', async () => {
  const { disk, fixture, evicted, sweepAfter } = await startAtReserve(false, SMALL_RESERVE_BYTES);
  Object.assign(disk, {
    remove: async (path: string) => {
      await localDisk.remove(path);
      fixture.clock.nowMs += 30;
    },
  });
  await sweepAfter(80);
  for (let second = 0; second < 20; second++) await sweepAfter(0);
  expect(evicted()).toBe(80);
});

// A small file system; only root may mount one.
const SMALL_BYTES = 2 << 20;
const mount = mkdtempSync(join(tmpdir(), 'small-disk-'));
const isMounted =
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SMALL_BYTES}`, 'tmpfs', mount]).status === 0;

describe.skipIf(!isMounted)('full file system (needs permission to mount)', () => {
  test('[M-28] [M-29] a full file system evicts the oldest segments of the ended stream first', async () => {
    const fixture = await createFixture({ directory: join(mount, 'segments') });
    const store = await fixture.start();
    const ended = await store.open(OTHER);
    ended.addEpoch(epochOf(0));
    await addSegments(fixture, ended, range(0, 50), { videoBytes: 16_000 });
    await ended.close(true);
    const segments = await store.open(STREAM);
    segments.setRetention('recording');
    segments.addEpoch(epochOf(0));
    await addSegments(fixture, segments, range(0, 60), { videoBytes: 24_000 });
    expect([segments.hasWriteFault, segments.retention]).toEqual([false, 'recording']);
    expect(seqsOf(segments)).toEqual(range(0, 60));
    const [first = 0] = seqsOf(ended);
    expect(first).toBeGreaterThan(0);
    expect(seqsOf(ended)).toEqual(range(first, 50));
    await addSegments(fixture, segments, range(60, 200), { videoBytes: 24_000 });
    expect([segments.hasWriteFault, segments.retention]).toEqual([false, 'recording']);
    expect(await store.find(OTHER)).toBeNull();
    expect(segments.segments.length).toBeGreaterThan(40);
    for (const seq of seqsOf(segments))
      expect(await readDigest(segments, seq)).toBe(expectedDigest(seq, 24_000));
    expect(fixture.lines.every(({ level, stream }) => level === 30 && stream === STREAM)).toBe(
      true,
    );
    await store.close();
    expect(seqsOf(await (await fixture.start()).find(STREAM))).toEqual(seqsOf(segments));
  });

  test('[M-29] a file system filled by others: the stream continues and is recorded again later', async () => {
    const { fixture, segments } = await startStream({ directory: join(mount, 'segments') });
    segments.setRetention('recording');
    // Others leave too little space for the live window.
    const filler = join(mount, 'filler');
    await writeFile(filler, new Uint8Array(SMALL_BYTES - 200_000));
    await addSegments(fixture, segments, range(0, 120), { videoBytes: 16_000 });
    expect(segments.hasWriteFault).toBe(true);
    const first = gapsOf(segments)[0] ?? 0;
    expect(first).toBeWithin(1, 20);
    expect(seqsOf(segments)).toEqual([...range(0, first), ...range(89, 120)]);
    expect(fixture.lines).toMatchObject([{ level: 50, err: { code: 'ENOSPC' } }]);
    // No unfinished file is left behind.
    expect((await fixture.files(STREAM)).filter((name) => name.endsWith('.unfinished'))).toEqual(
      [],
    );
    await rm(filler);
    await addSegments(fixture, segments, range(120, 160), { videoBytes: 16_000 });
    expect([segments.hasWriteFault, segments.retention]).toEqual([false, 'recording']);
    expect(fixture.lines).toHaveLength(2);
    await segments.close(true);
    const reloaded = await (await fixture.start()).open(STREAM);
    const next = (gapsOf(reloaded).at(-1) ?? 0) + 1;
    expect(next).toBeWithin(89, 120);
    expect(seqsOf(reloaded)).toEqual([...range(0, first), ...range(next, 160)]);
    for (const seq of seqsOf(reloaded)) {
      expect(await readDigest(reloaded, seq)).toBe(expectedDigest(seq, 16_000));
    }
  });
});

afterAll(() => {
  if (isMounted) spawnSync('umount', [mount]);
  rmSync(mount, { recursive: true, force: true });
});
