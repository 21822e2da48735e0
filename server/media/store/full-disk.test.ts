import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FaultyDisk } from '../../../test/support/media/faulty-disk.ts';
import {
  addSegments,
  epochOf,
  gapsOf,
  newFixture,
  range,
  readOf,
  removeFixtures,
  segmentOf,
  seqsOf,
  writtenOf,
} from '../../../test/support/media/segment-store-fixture.ts';

const STREAM = '0b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const OTHER = '1b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';

afterEach(removeFixtures);

test.each(['EIO', 'EROFS', 'ENOSPC'])(
  '[M-27] [M-29] %s: the show goes on from memory, with one line in the log, and what was recorded before stays',
  async (code) => {
    const disk = new FaultyDisk();
    const fixture = await newFixture({ disk });
    const shelves = await fixture.start();
    const shelf = await shelves.open(STREAM);
    shelf.keep('recording');
    shelf.addEpoch(epochOf(0));
    await addSegments(fixture, shelf, range(0, 50));
    disk.failure = code;
    await addSegments(fixture, shelf, range(50, 70));
    expect(shelf.isFull).toBe(true);
    expect(shelves.stats().fullStreams).toBe(1);
    expect(shelf.keeping).toBe('recording');
    // On a disk that is full some of the oldest make room, which others may take.
    const [from = 0] = seqsOf(shelf);
    expect(from).toBeWithin(0, code === 'ENOSPC' ? 10 : 1);
    expect([seqsOf(shelf), gapsOf(shelf)]).toEqual([range(from, 70), []]);
    const { writes } = disk;
    await addSegments(fixture, shelf, range(70, 500));
    // Tried again now and then, and not for each segment.
    expect(disk.writes - writes).toBeGreaterThan(5);
    expect(disk.writes - writes).toBeLessThan(30);
    const [kept = 0] = seqsOf(shelf);
    expect(kept).toBeWithin(from, code === 'ENOSPC' ? 21 : 1);
    expect(seqsOf(shelf)).toEqual([...range(kept, 50), ...range(469, 500)]);
    expect(gapsOf(shelf)).toEqual(range(50, 469));
    for (const seq of seqsOf(shelf)) expect(await readOf(shelf, seq)).toBe(writtenOf(seq));
    for (const seq of gapsOf(shelf)) expect(await readOf(shelf, seq)).toBeNull();
    const lines = fixture.lines.filter(({ level }) => level !== 30);
    expect(lines).toMatchObject([{ level: 50, stream: STREAM, err: { code } }]);

    disk.failure = null;
    await addSegments(fixture, shelf, range(500, 600));
    expect([shelf.isFull, shelf.keeping]).toEqual([false, 'recording']);
    expect(shelves.stats().fullStreams).toBe(0);
    expect(fixture.lines.at(-1)).toMatchObject({ level: 40, stream: STREAM });
    const first = (gapsOf(shelf).at(-1) ?? 0) + 1;
    expect(first).toBeLessThan(500);
    expect(gapsOf(shelf)).toEqual(range(50, first));
    expect(seqsOf(shelf)).toEqual([...range(kept, 50), ...range(first, 600)]);
    await shelf.close(true);
    const found = await (await fixture.start()).open(STREAM);
    expect(found.segments).toEqual(shelf.segments);
    for (const seq of seqsOf(found)) expect(await readOf(found, seq)).toBe(writtenOf(seq));
  },
);

test('[M-29] a fault that is over before memory is: nothing is lost', async () => {
  const disk = new FaultyDisk();
  const fixture = await newFixture({ disk });
  const shelves = await fixture.start();
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 10));
  disk.failure = 'EIO';
  await addSegments(fixture, shelf, range(10, 20));
  disk.failure = null;
  // The source has gone meanwhile: time alone has it tried again.
  fixture.clock.nowMs += 20_000;
  await shelves.sweep();
  expect(shelf.isFull).toBe(true);
  fixture.clock.nowMs += 15_000;
  await shelves.sweep();
  await shelf.written();
  expect([shelf.isFull, shelf.keeping]).toEqual([false, 'dvr']);
  expect(seqsOf(await (await fixture.start()).find(STREAM))).toEqual(range(0, 20));
});

test('[M-29] at the end a disk that failed is tried once more', async () => {
  const disk = new FaultyDisk();
  const fixture = await newFixture({ disk });
  const shelf = await (await fixture.start()).open(STREAM);
  shelf.addEpoch(epochOf(0));
  disk.failure = 'EIO';
  await addSegments(fixture, shelf, range(0, 10));
  disk.failure = null;
  await shelf.close(true);
  expect([shelf.isFull, shelf.keeping]).toEqual([false, 'dvr']);
  expect(seqsOf(await (await fixture.start()).find(STREAM))).toEqual(range(0, 10));
});

test('[M-29] a disk that hangs costs no more memory than the newest', async () => {
  const disk = new FaultyDisk();
  const fixture = await newFixture({ disk });
  const shelves = await fixture.start();
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 10));
  disk.hang();
  const { writes } = disk;
  for (const seq of range(10, 300)) shelf.add(...segmentOf(seq));
  expect(shelf.isFull).toBe(true);
  while (disk.writes === writes) await Bun.sleep(0);
  expect(disk.writes).toBe(writes + 1);
  expect(seqsOf(shelf)).toEqual([...range(0, 10), ...range(269, 300)]);
  for (const seq of range(10, 269)) expect(shelf.read(0, seq, 'v0')).toBeNull();
  expect(fixture.lines).toHaveLength(1);
  disk.goOn();
  await shelf.written();
  // The one that it was at is there after all.
  expect(seqsOf(shelf)).toEqual([...range(0, 11), ...range(269, 300)]);
  expect([shelf.isFull, shelf.keeping]).toEqual([false, 'dvr']);
  expect((await (await fixture.start()).find(STREAM))?.segments).toEqual([...shelf.segments]);
});

test('[M-29] large segments: memory is bounded in bytes, and a player has a few', async () => {
  const disk = new FaultyDisk();
  const fixture = await newFixture({ disk });
  const shelf = await (await fixture.start()).open(STREAM);
  shelf.addEpoch(epochOf(0));
  disk.hang();
  const large = new Uint8Array(40 << 20);
  const add = (seq: number, bytes: number) =>
    shelf.add(segmentOf(seq)[0], new Map([['v0', large.subarray(0, bytes)]]));
  for (const seq of range(0, 20)) add(seq, 10 << 20);
  expect(seqsOf(shelf)).toEqual(range(14, 20));
  for (const seq of range(20, 30)) add(seq, 40 << 20);
  expect(seqsOf(shelf)).toEqual(range(26, 30));
  disk.failure = 'EIO';
  disk.goOn();
  await shelf.close(false);
});

test('a close does not wait for ever for a disk that hangs', async () => {
  const disk = new FaultyDisk();
  const fixture = await newFixture({ disk });
  const shelves = await fixture.start({ closeMs: 10 });
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  disk.hang();
  shelf.add(...segmentOf(0));
  await shelves.close();
  expect(await readOf(shelf, 0)).toBe(writtenOf(0));
  disk.goOn();
  await shelf.written();
});

test('what only memory has is forgotten a minute after the end', async () => {
  const disk = new FaultyDisk();
  const fixture = await newFixture({ disk });
  const shelves = await fixture.start();
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 5));
  disk.failure = 'EIO';
  await addSegments(fixture, shelf, range(5, 10));
  await shelf.close(true);
  await shelves.sweep();
  expect(await readOf(shelf, 9)).toBe(writtenOf(9));
  fixture.clock.nowMs += 61_000;
  await shelves.sweep();
  expect(seqsOf(shelf)).toEqual(range(0, 5));
  expect(shelf.read(0, 9, 'v0')).toBeNull();
});

test('[M-11] what was forgotten is a gap once its source is back, and its numbers do not come again', async () => {
  const disk = new FaultyDisk();
  const fixture = await newFixture({ disk });
  const shelves = await fixture.start();
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 5));
  disk.failure = 'EIO';
  await addSegments(fixture, shelf, range(5, 50));
  fixture.clock.nowMs += 61_000;
  await shelves.sweep();
  expect([seqsOf(shelf), gapsOf(shelf), shelf.nextSeq]).toEqual([range(0, 5), [], 50]);
  disk.failure = null;
  shelf.addEpoch(epochOf(1));
  await addSegments(fixture, shelf, range(50, 60), { epoch: 1 });
  expect(seqsOf(shelf)).toEqual([...range(0, 5), ...range(50, 60)]);
  expect(gapsOf(shelf)).toEqual(range(5, 50));
});

test('[M-28] so much of the file system is left to others as was said', async () => {
  const disk = new FaultyDisk();
  const fixture = await newFixture({ disk, minFreeBytes: 1 << 30 });
  const free = { bytes: (1 << 30) + 40 * 8192 };
  Object.assign(disk, { freeBytes: async () => free.bytes });
  const shelves = await fixture.start();
  await shelves.sweep();
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  // 8192 bytes each on disk.
  await addSegments(fixture, shelf, range(0, 100), { videoBytes: 7500 });
  expect([shelf.isFull, shelf.keeping]).toEqual([false, 'dvr']);
  const kept = seqsOf(shelf).length;
  expect(kept).toBeGreaterThanOrEqual(39);
  expect(kept).toBeLessThan(45);
  // Somebody else takes the rest: the live window stays, and goes on from memory.
  free.bytes = 1 << 20;
  await shelves.sweep();
  const before = seqsOf(shelf);
  expect(before.length).toBeLessThan(33);
  await addSegments(fixture, shelf, range(100, 200), { videoBytes: 7500 });
  expect(shelf.isFull).toBe(true);
  expect(seqsOf(shelf)).toEqual([...before, ...range(169, 200)]);
});

// A file system of its own, as small as it must be: only root may mount one.
const SMALL_BYTES = 2 << 20;
const mount = mkdtempSync(join(tmpdir(), 'small-disk-'));
const isMounted =
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SMALL_BYTES}`, 'tmpfs', mount]).status === 0;

describe.skipIf(!isMounted)('a file system that is full (needs the right to mount one)', () => {
  test('[M-28] [M-29] the oldest goes first, of the stream that ended before the live one', async () => {
    const fixture = await newFixture({ directory: join(mount, 'shelves') });
    const shelves = await fixture.start();
    const ended = await shelves.open(OTHER);
    ended.addEpoch(epochOf(0));
    await addSegments(fixture, ended, range(0, 50), { videoBytes: 16_000 });
    await ended.close(true);
    const shelf = await shelves.open(STREAM);
    shelf.keep('recording');
    shelf.addEpoch(epochOf(0));
    await addSegments(fixture, shelf, range(0, 60), { videoBytes: 24_000 });
    expect([shelf.isFull, shelf.keeping]).toEqual([false, 'recording']);
    expect(seqsOf(shelf)).toEqual(range(0, 60));
    const [first = 0] = seqsOf(ended);
    expect(first).toBeGreaterThan(0);
    expect(seqsOf(ended)).toEqual(range(first, 50));
    await addSegments(fixture, shelf, range(60, 200), { videoBytes: 24_000 });
    expect([shelf.isFull, shelf.keeping]).toEqual([false, 'recording']);
    expect(await shelves.find(OTHER)).toBeNull();
    expect(shelf.segments.length).toBeGreaterThan(40);
    for (const seq of seqsOf(shelf)) expect(await readOf(shelf, seq)).toBe(writtenOf(seq, 24_000));
    expect(fixture.lines.every(({ level, stream }) => level === 30 && stream === STREAM)).toBe(
      true,
    );
    await shelves.close();
    expect(seqsOf(await (await fixture.start()).find(STREAM))).toEqual(seqsOf(shelf));
  });

  test('[M-29] filled by others: the show goes on, and is recorded again once there is room', async () => {
    const fixture = await newFixture({ directory: join(mount, 'shelves') });
    const shelves = await fixture.start();
    const shelf = await shelves.open(STREAM);
    shelf.keep('recording');
    shelf.addEpoch(epochOf(0));
    // Others leave no room for what a live player needs.
    const filling = join(mount, 'filling');
    await writeFile(filling, new Uint8Array(SMALL_BYTES - 200_000));
    await addSegments(fixture, shelf, range(0, 120), { videoBytes: 16_000 });
    expect(shelf.isFull).toBe(true);
    const first = gapsOf(shelf)[0] ?? 0;
    expect(first).toBeWithin(1, 20);
    expect(seqsOf(shelf)).toEqual([...range(0, first), ...range(89, 120)]);
    expect(fixture.lines).toMatchObject([{ level: 50, err: { code: 'ENOSPC' } }]);
    // No torn file is left behind.
    expect((await fixture.files(STREAM)).filter((name) => name.endsWith('.unfinished'))).toEqual(
      [],
    );
    await rm(filling);
    await addSegments(fixture, shelf, range(120, 160), { videoBytes: 16_000 });
    expect([shelf.isFull, shelf.keeping]).toEqual([false, 'recording']);
    expect(fixture.lines).toHaveLength(2);
    await shelf.close(true);
    const found = await (await fixture.start()).open(STREAM);
    const next = (gapsOf(found).at(-1) ?? 0) + 1;
    expect(next).toBeWithin(89, 120);
    expect(seqsOf(found)).toEqual([...range(0, first), ...range(next, 160)]);
    for (const seq of seqsOf(found)) {
      expect(await readOf(found, seq)).toBe(writtenOf(seq, 16_000));
    }
  });
});

afterAll(() => {
  if (isMounted) spawnSync('umount', [mount]);
  rmSync(mount, { recursive: true, force: true });
});
