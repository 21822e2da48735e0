import { afterEach, expect, test } from 'bun:test';
import { cpSync } from 'node:fs';
import {
  addSegments,
  BEGIN_MS,
  createFixture,
  epochOf,
  expectedDigest,
  range,
  readDigest,
  removeFixtures,
  STREAM,
  segmentOf,
  seqsOf,
  startStream,
} from '../../../test/support/media/segment-store-fixture.ts';
import { localDisk } from './disk.ts';

const HOUR_MS = 3_600_000;

afterEach(removeFixtures);

test('added segments are readable at once, and from disk after a restart', async () => {
  const fixture = await createFixture();
  const store = await fixture.start();
  const segments = await store.open(STREAM);
  expect(await store.find(STREAM)).toBeNull();
  segments.addEpoch(epochOf(0));
  const { version } = segments;
  segments.add(...segmentOf(0));
  expect(segments.version).toBeGreaterThan(version);
  expect(segments.read(0, 0, 'v0')).toBeInstanceOf(Uint8Array);
  expect(segments.read(0, 0, 'v1')).toBeNull();
  expect(segments.read(0, 1, 'v0')).toBeNull();
  await addSegments(fixture, segments, range(1, 50));
  expect(await store.open(STREAM)).toBe(segments);
  expect(await store.find(STREAM)).toBe(segments);
  await store.close();

  const restarted = await (await fixture.start()).find(STREAM);
  if (!restarted) throw new Error('stream not found');
  expect(restarted.segments).toEqual(segments.segments);
  expect(restarted.epochs).toEqual([epochOf(0)]);
  expect(restarted.retention).toBe('dvr');
  for (const seq of range(0, 50)) {
    expect(restarted.read(0, seq, 'v0')).toBeInstanceOf(Blob);
    expect(await readDigest(restarted, seq)).toBe(expectedDigest(seq));
  }
  expect(await fixture.files(STREAM)).toContain('0.epoch');
});

test('a restarted store continues the sequence numbers in a new epoch', async () => {
  const { fixture, segments: before } = await startStream();
  await addSegments(fixture, before, range(0, 3));
  await before.close(false);
  const segments = await (await fixture.start()).open(STREAM);
  segments.addEpoch(epochOf(1));
  await addSegments(fixture, segments, range(3, 6), { epoch: 1 });
  expect(() => segments.add(...segmentOf(5, 1))).toThrow(RangeError);
  await segments.close(false);
  const reloaded = await (await fixture.start()).find(STREAM);
  expect(seqsOf(reloaded)).toEqual(range(0, 6));
  expect(reloaded?.epochs).toEqual([epochOf(0), epochOf(1)]);
});

test('[M-26] the list is limited to the DVR window; files are removed a minute later', async () => {
  const { fixture, store, segments } = await startStream({ dvrMs: 60_000 });
  await addSegments(fixture, segments, range(0, 90));
  segments.addEpoch(epochOf(1));
  await addSegments(fixture, segments, range(90, 200), { epoch: 1 });
  await segments.close(false);
  expect(seqsOf(segments)).toEqual(range(140, 200));
  expect(segments.epochs).toEqual([epochOf(1)]);
  // For players with a slightly older playlist.
  expect(await readDigest(segments, 130, 1)).toBe(expectedDigest(130));
  await store.sweep();
  const files = await fixture.files(STREAM);
  expect(files.filter((name) => name.endsWith('.segment'))).toHaveLength(121);
  expect(files.filter((name) => name.endsWith('.epoch'))).toEqual(['0.epoch', '1.epoch']);
  segments.addEpoch(epochOf(2));
  await addSegments(fixture, segments, range(200, 300), { epoch: 2 });
  await segments.close(false);
  await store.sweep();
  const later = await fixture.files(STREAM);
  expect(later.filter((name) => name.endsWith('.epoch'))).toEqual(['1.epoch', '2.epoch']);
  expect(await readDigest(segments, 130, 1)).toBeNull();
});

test('[M-32] a preview reaches a minute back, and the start removes it from list, memory and disk', async () => {
  const { fixture, store, segments } = await startStream({ dvrMs: 7_200_000 });
  segments.setRetention('preview');
  await addSegments(fixture, segments, range(0, 200));
  await segments.close(false);
  await store.sweep();
  expect(seqsOf(segments)).toEqual(range(140, 200));
  const files = async () =>
    (await fixture.files(STREAM)).filter((name) => name.endsWith('.segment')).length;
  expect(await files()).toBe(121);
  segments.setRetention('recording');
  segments.removeBefore(BEGIN_MS + 202_500);
  expect(seqsOf(segments)).toEqual([]);
  expect([segments.nextSeq, await readDigest(segments, 199)]).toEqual([200, null]);
  // The encoder is behind: these segments are from before the start, except for the last two.
  await addSegments(fixture, segments, range(200, 204));
  expect(seqsOf(segments)).toEqual([202, 203]);
  expect(await readDigest(segments, 201)).toBeNull();
  await segments.close(false);
  await store.sweep();
  expect(await files()).toBe(2);
});

test('[M-32] a crash right after the start makes no segment of the preview visible', async () => {
  const { fixture, segments } = await startStream({ dvrMs: 7_200_000 });
  segments.setRetention('preview');
  await addSegments(fixture, segments, range(0, 20));
  await segments.close(false);
  segments.removeBefore(BEGIN_MS + 22_500);
  segments.setRetention('recording');
  // The state is not on disk yet: the stream is still a preview, which the start removes.
  const copy = `${fixture.directory}-copy`;
  cpSync(fixture.directory, copy, { recursive: true });
  const afterCrash = await createFixture({ directory: copy });
  const crashed = await (await afterCrash.start({ dvrMs: 7_200_000 })).open(STREAM);
  expect(crashed.retention).toBe('preview');
  await segments.close(false);
  const restored = await (await fixture.start({ dvrMs: 7_200_000 })).open(STREAM);
  expect(restored.retention).toBe('recording');
  expect([seqsOf(restored), restored.nextSeq]).toEqual([[], 20]);
  expect(await readDigest(restored, 19)).toBeNull();
});

test('[M-32] a preview without a source is removed after a minute, also for a stream that is to be recorded', async () => {
  const fixture = await createFixture();
  const store = await fixture.start({ isRecording: async () => true });
  const segments = await store.open(STREAM);
  segments.addEpoch(epochOf(0));
  segments.setRetention('preview');
  await addSegments(fixture, segments, range(0, 5));
  await segments.close(false);
  fixture.clock.nowMs += 130_000;
  await store.sweep();
  await store.sweep();
  expect(await store.find(STREAM)).toBeNull();
});

test('[K-7] a preview that ends in the future is removed when the store opens, and other video is not', async () => {
  const { fixture, segments } = await startStream();
  await addSegments(fixture, segments, range(0, 20));
  const openAt = async (nowMs: number) => {
    await segments.close(false);
    fixture.clock.nowMs = nowMs;
    return (await fixture.start()).find(STREAM);
  };
  const endMs = BEGIN_MS + 20_000;
  expect(seqsOf(await openAt(endMs - 86_400_000))).toEqual(range(0, 20));
  segments.setRetention('preview');
  expect(seqsOf(await openAt(endMs - 10_000))).toEqual(range(0, 20));
  expect(await openAt(endMs - 10_001)).toBeNull();
  expect((await fixture.files(STREAM)).filter((name) => name.endsWith('.segment'))).toEqual([]);
});

test('[M-27] a recording is retained in full after the end of the stream', async () => {
  const { fixture, segments } = await startStream({ dvrMs: 60_000 });
  segments.setRetention('recording');
  expect(segments.retention).toBe('recording');
  await addSegments(fixture, segments, range(0, 300));
  await segments.close(true);
  fixture.clock.nowMs += 48 * HOUR_MS;
  const store = await fixture.start();
  await store.sweep();
  const reloaded = await store.find(STREAM);
  expect(reloaded?.retention).toBe('recording');
  expect(seqsOf(reloaded)).toEqual(range(0, 300));
  // No longer a recording: it expires with its DVR window.
  reloaded?.setRetention('dvr');
  await reloaded?.close(true);
  await store.sweep();
  expect(await store.find(STREAM)).toBeNull();
});

test('[M-27] a producer can switch the recording on and off after the end', async () => {
  const fixture = await createFixture({ dvrMs: 60_000 });
  let isRecording: boolean | null = null;
  const store = await fixture.start({ isRecording: async () => isRecording });
  const segments = await store.open(STREAM);
  segments.addEpoch(epochOf(0));
  await addSegments(fixture, segments, range(0, 50));
  await segments.close(true);
  fixture.clock.nowMs += HOUR_MS;
  isRecording = true;
  await store.sweep();
  expect(segments.retention).toBe('recording');
  await segments.whenWritten();
  const later = await fixture.start({ isRecording: async () => isRecording });
  await later.sweep();
  expect(seqsOf(await later.find(STREAM))).toEqual(range(0, 50));
  isRecording = false;
  await later.sweep();
  await (await later.open(STREAM)).whenWritten();
  await later.sweep();
  await later.sweep();
  expect(await later.find(STREAM)).toBeNull();
});

test('[M-27] segments are not removed while the database is unavailable', async () => {
  const fixture = await createFixture({ dvrMs: 60_000 });
  const unavailable = () => Promise.reject(new Error('the database is unavailable'));
  const store = await fixture.start({ isRecording: unavailable });
  const segments = await store.open(STREAM);
  segments.addEpoch(epochOf(0));
  await addSegments(fixture, segments, range(0, 50));
  await segments.close(true);
  fixture.clock.nowMs += HOUR_MS;
  await store.sweep();
  expect(seqsOf(await store.find(STREAM))).toEqual(range(0, 50));
});

test('[M-11] sequence numbers continue after all segments expired', async () => {
  const { fixture, store, segments } = await startStream({ dvrMs: 60_000 });
  await addSegments(fixture, segments, range(0, 50));
  await segments.close(false);
  fixture.clock.nowMs += HOUR_MS;
  await store.sweep();
  await store.sweep();
  expect([seqsOf(segments), segments.nextSeq]).toEqual([[], 50]);
  await addSegments(fixture, segments, range(50, 52));
  expect(seqsOf(segments)).toEqual([50, 51]);
});

test('[M-26] an ended stream and its folder are removed after the DVR window', async () => {
  const { fixture, store, segments } = await startStream({ dvrMs: 60_000 });
  await addSegments(fixture, segments, range(0, 50));
  await segments.close(true);
  fixture.clock.nowMs += 59_000;
  await store.sweep();
  expect(seqsOf(await store.find(STREAM))).toEqual(range(0, 50));
  fixture.clock.nowMs += 2_000;
  await store.sweep();
  expect(await store.find(STREAM)).toBeNull();
  expect(seqsOf(segments)).toEqual([]);
  expect(await fixture.files(STREAM)).toEqual([]);
  expect(store.stats().bytes).toBe(0);
});

test('[M-26] a stream whose source never returned is removed after the DVR window', async () => {
  const { fixture, segments } = await startStream({ dvrMs: 60_000 });
  await addSegments(fixture, segments, range(0, 50));
  await segments.close(false);
  const store = await fixture.start();
  fixture.clock.nowMs += 61_000;
  await store.sweep();
  expect(await store.find(STREAM)).toBeNull();
  expect(await fixture.files(STREAM)).toEqual([]);
});

test.each(['..', '../x', 'a/b', '', STREAM.toUpperCase(), `${STREAM}/..`, '\0'])(
  'the store rejects %j as a stream id',
  async (id) => {
    const store = await (await createFixture()).start();
    expect(await store.find(id)).toBeNull();
    expect(store.open(id)).rejects.toThrow(RangeError);
  },
);

test('concurrent opens of a stream return the same object', async () => {
  const { fixture, segments: before } = await startStream();
  await addSegments(fixture, before, range(0, 20));
  await before.close(true);
  const store = await fixture.start();
  const [a, b, c] = await Promise.all([store.open(STREAM), store.find(STREAM), store.open(STREAM)]);
  expect(a === c && b === a).toBe(true);
  expect(a.segments[0]?.startMs).toBe(BEGIN_MS);
});

test('written segments leave memory when none is added for a minute', async () => {
  const { fixture, store, segments } = await startStream();
  await addSegments(fixture, segments, range(0, 5));
  await store.sweep();
  expect(segments.read(0, 4, 'v0')).toBeInstanceOf(Uint8Array);
  fixture.clock.nowMs += 61_000;
  await store.sweep();
  expect(segments.read(0, 4, 'v0')).toBeInstanceOf(Blob);
  expect(await readDigest(segments, 4)).toBe(expectedDigest(4));
});

test('a stream that continues after its end is no longer ended', async () => {
  const { fixture, segments } = await startStream({ dvrMs: 60_000 });
  await addSegments(fixture, segments, range(0, 10));
  await segments.close(true);
  await addSegments(fixture, segments, range(10, 100));
  await segments.close(false);
  const restarted = await fixture.start();
  await restarted.sweep();
  expect(seqsOf(await restarted.find(STREAM))).toEqual(range(40, 100));
});

test('[M-32] a preview that continues after all its segments expired is one after a restart', async () => {
  const { fixture, store, segments } = await startStream();
  segments.startPreview();
  await addSegments(fixture, segments, [0]);
  fixture.clock.nowMs += 3 * 60_000;
  await store.sweep();
  await store.sweep();
  expect(await fixture.files(STREAM)).toEqual([]);
  segments.addEpoch(epochOf(1));
  await addSegments(fixture, segments, range(200, 203), { epoch: 1 });
  await segments.close(false);
  expect(await fixture.files(STREAM)).toContain('state.json');
  const restarted = await (await fixture.start()).open(STREAM);
  expect([restarted.isPreview, seqsOf(restarted)]).toEqual([true, range(200, 203)]);
});

test('[M-27] a recording that continues after all its segments were evicted stays one', async () => {
  const disk = { ...localDisk, freeBytes: async () => freeBytes };
  let freeBytes = 1 << 30;
  const fixture = await createFixture({ disk, minFreeBytes: 1 << 20, dvrMs: 60_000 });
  const store = await fixture.start();
  const segments = await store.open(STREAM);
  segments.setRetention('recording');
  segments.addEpoch(epochOf(0));
  await addSegments(fixture, segments, range(0, 3));
  freeBytes = 0;
  fixture.clock.nowMs += 5 * 60_000;
  for (let n = 0; n < 3; n++) await store.sweep();
  expect(await fixture.files(STREAM)).toEqual([]);
  freeBytes = 1 << 30;
  await store.sweep();
  segments.addEpoch(epochOf(1));
  await addSegments(fixture, segments, range(400, 600), { epoch: 1 });
  await segments.close(false);
  const restarted = await fixture.start();
  await restarted.sweep();
  expect(seqsOf(await restarted.find(STREAM))).toEqual(range(400, 600));
});
