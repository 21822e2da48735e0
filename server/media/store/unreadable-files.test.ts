import { afterEach, expect, test } from 'bun:test';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FaultyDisk } from '../../../test/support/media/faulty-disk.ts';
import {
  addSegments,
  epochOf,
  expectedDigest,
  type Fixture,
  gapsOf,
  range,
  readDigest,
  removeFixtures,
  STREAM,
  seqsOf,
  startStream,
} from '../../../test/support/media/segment-store-fixture.ts';
import { until } from '../../../test/support/until.ts';

afterEach(removeFixtures);

const OTHER = '1b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const UNREADABLE_CODES = ['EIO', 'EUCLEAN', 'EACCES'];

/** A stored recording of two epochs, and the video of another stream. */
async function storeRecording() {
  const disk = new FaultyDisk();
  const { fixture, store, segments } = await startStream({ disk });
  segments.setRetention('recording');
  await addSegments(fixture, segments, range(0, 10));
  segments.addEpoch(epochOf(1));
  await addSegments(fixture, segments, range(10, 20), { epoch: 1 });
  await segments.close(true);
  const other = await store.open(OTHER);
  other.addEpoch(epochOf(0));
  await addSegments(fixture, other, range(0, 3));
  await other.close(true);
  return { fixture, disk };
}

/** Lets a new source continue the recording. */
async function expectToContinue(fixture: Fixture, seqs: readonly number[]): Promise<void> {
  const segments = await (await fixture.start()).open(STREAM);
  expect([segments.nextSeq, segments.nextEpoch]).toEqual([20, 2]);
  segments.addEpoch(epochOf(2));
  await addSegments(fixture, segments, range(20, 25), { epoch: 2 });
  await segments.close(false);
  expect(seqsOf(segments)).toEqual([...seqs, ...range(20, 25)]);
}

async function expectWhole(fixture: Fixture, seqs: readonly number[]): Promise<void> {
  const segments = await (await fixture.start()).open(STREAM);
  expect([seqsOf(segments), gapsOf(segments)]).toEqual([[...seqs], []]);
  for (const seq of seqs) expect(await readDigest(segments, seq)).toBe(expectedDigest(seq));
}

test.each(UNREADABLE_CODES)(
  '[M-27] a segment file whose read fails with %s is a gap, and stays',
  async (code) => {
    const { fixture, disk } = await storeRecording();
    disk.unreadable = { path: /\/(5|19)-[^/]*\.segment$/, code };
    const store = await fixture.start();
    const segments = await store.find(STREAM);
    const readable = range(0, 19).filter((seq) => seq !== 5);
    expect([seqsOf(segments), gapsOf(segments)]).toEqual([readable, [5]]);
    expect(fixture.lines.at(-2)).toMatchObject({ level: 50, unreadable: 2, err: { code } });
    await store.sweep();
    await expectToContinue(fixture, readable);
    disk.unreadable = null;
    await expectWhole(fixture, range(0, 25));
  },
);

test('[M-27] segments whose epoch file cannot be read are gaps, and stay', async () => {
  const { fixture, disk } = await storeRecording();
  disk.unreadable = { path: /\/1\.epoch$/, code: 'EIO' };
  expect(seqsOf(await (await fixture.start()).find(STREAM))).toEqual(range(0, 10));
  await expectToContinue(fixture, range(0, 10));
  disk.unreadable = null;
  await expectWhole(fixture, range(0, 25));
});

test('[M-27] a recording of which nothing can be read is missing, and stays', async () => {
  const { fixture, disk } = await storeRecording();
  disk.unreadable = { path: /\.segment$/, code: 'EIO' };
  expect(await (await fixture.start()).find(STREAM)).toBeNull();
  await expectToContinue(fixture, []);
  disk.unreadable = null;
  await expectWhole(fixture, range(0, 25));
});

test('[M-27] a store opens although a state cannot be read, and keeps the video', async () => {
  const { fixture, disk } = await storeRecording();
  disk.unreadable = { path: new RegExp(`${STREAM}/state.json$`), code: 'EIO' };
  fixture.clock.nowMs += 86_400_000;
  const store = await fixture.start();
  expect(fixture.lines.at(-1)).toMatchObject({ level: 50, stream: STREAM, err: { code: 'EIO' } });
  await store.sweep();
  await store.sweep();
  expect(seqsOf(await store.find(STREAM))).toEqual(range(0, 20));
  await expectToContinue(fixture, range(0, 20));
});

test.each([
  ['is empty', ''],
  ['is of another version', '{"retention":"other"}'],
])('[M-27] a store keeps the video although a state %s', async (_, text) => {
  const { fixture } = await storeRecording();
  await writeFile(join(fixture.directory, STREAM, 'state.json'), text);
  fixture.clock.nowMs += 86_400_000;
  const store = await fixture.start();
  expect(fixture.lines.at(-1)).toMatchObject({ level: 50, stream: STREAM });
  await store.sweep();
  await store.sweep();
  expect(seqsOf(await store.find(STREAM))).toEqual(range(0, 20));
  await expectToContinue(fixture, range(0, 20));
});

test('[M-11] a store opens although a folder cannot be read, and uses no number of it again', async () => {
  const { fixture, disk } = await storeRecording();
  disk.unreadable = { path: new RegExp(`${STREAM}$`), code: 'EIO' };
  const store = await fixture.start();
  expect(fixture.lines.at(-1)).toMatchObject({ level: 50, stream: STREAM, err: { code: 'EIO' } });
  expect(seqsOf(await store.find(OTHER))).toEqual(range(0, 3));
  expect(await store.find(STREAM)).toBeNull();
  for (const _ of range(0, 2)) {
    await expect(store.open(STREAM)).rejects.toThrow('EIO');
    await store.sweep();
  }
  disk.unreadable = null;
  const segments = await store.open(STREAM);
  expect([seqsOf(segments), segments.nextSeq]).toEqual([range(0, 20), 20]);
  expect(segments.retention).toBe('recording');
});

test('a store opens although an unfinished file cannot be removed', async () => {
  const { fixture, disk } = await storeRecording();
  await writeFile(join(fixture.directory, STREAM, '3.epoch.unfinished'), 'partial');
  Object.assign(disk, { remove: () => Promise.reject(new Error('EROFS')) });
  expect(seqsOf(await (await fixture.start()).find(STREAM))).toEqual(range(0, 20));
});

test.each(['EMFILE', 'EAGAIN', 'ETIMEDOUT', 'ESTALE'])(
  'a read that fails with %s, which says nothing of the file, makes no gap',
  async (code) => {
    const { fixture, disk } = await storeRecording();
    const store = await fixture.start();
    disk.unreadable = { path: /\/5-[^/]*\.segment$/, code };
    await expect(store.find(STREAM)).rejects.toThrow(code);
    disk.unreadable = null;
    expect(seqsOf(await store.find(STREAM))).toEqual(range(0, 20));
  },
);

test('[M-29] segments that can be read again are listed after a minute', async () => {
  const { fixture, disk } = await storeRecording();
  disk.unreadable = { path: /\/(0|5|19)-[^/]*\.segment$|\/1\.epoch$/, code: 'EIO' };
  const store = await fixture.start();
  const segments = await store.open(STREAM);
  const { version } = segments;
  const readable = range(1, 10).filter((seq) => seq !== 5);
  disk.unreadable = { path: /\/5-[^/]*\.segment$/, code: 'EIO' };
  fixture.clock.nowMs += 59_999;
  await store.sweep();
  await Bun.sleep(50);
  expect(seqsOf(segments)).toEqual(readable);
  const untilListed = (seqs: readonly number[]) =>
    until('the segments', async () => {
      fixture.clock.nowMs += 60_000;
      await store.sweep();
      return Bun.deepEquals(seqsOf(segments), seqs);
    });
  await untilListed(range(0, 20).filter((seq) => seq !== 5));
  expect([segments.nextSeq, segments.version > version]).toEqual([20, true]);
  disk.unreadable = null;
  await untilListed(range(0, 20));
  for (const seq of range(0, 20)) expect(await readDigest(segments, seq)).toBe(expectedDigest(seq));
  expect(await store.open(STREAM)).toBe(segments);
});

test('[M-29] a source that continues a recording with unreadable files loses nothing when they can be read', async () => {
  const { fixture, disk } = await storeRecording();
  disk.unreadable = { path: /\/5-[^/]*\.segment$/, code: 'EIO' };
  const store = await fixture.start();
  const segments = await store.open(STREAM);
  segments.addEpoch(epochOf(2));
  disk.unreadable = null;
  fixture.clock.nowMs += 60_000;
  await store.sweep();
  await Bun.sleep(50);
  await addSegments(fixture, segments, range(20, 25), { epoch: 2 });
  await segments.close(false);
  expect(seqsOf(segments)).toEqual(range(0, 25).filter((seq) => seq !== 5));
  await expectWhole(fixture, range(0, 25));
});
