import { afterEach, expect, test } from 'bun:test';
import {
  addSegments,
  BEGIN_MS,
  epochOf,
  newFixture,
  range,
  readOf,
  removeFixtures,
  segmentOf,
  seqsOf,
  writtenOf,
} from '../../../test/support/media/segment-store-fixture.ts';

const STREAM = '0b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const HOUR_MS = 3_600_000;

afterEach(removeFixtures);

test('what is added can be read at once, and from disk after a restart', async () => {
  const fixture = await newFixture();
  const shelves = await fixture.start();
  const shelf = await shelves.open(STREAM);
  expect(await shelves.find(STREAM)).toBeNull();
  shelf.addEpoch(epochOf(0));
  const { version } = shelf;
  shelf.add(...segmentOf(0));
  expect(shelf.version).toBeGreaterThan(version);
  expect(shelf.read(0, 0, 'v0')).toBeInstanceOf(Uint8Array);
  expect(shelf.read(0, 0, 'v1')).toBeNull();
  expect(shelf.read(0, 1, 'v0')).toBeNull();
  await addSegments(fixture, shelf, range(1, 50));
  expect(await shelves.open(STREAM)).toBe(shelf);
  expect(await shelves.find(STREAM)).toBe(shelf);
  await shelves.close();

  const again = await (await fixture.start()).find(STREAM);
  if (!again) throw new Error('nothing was found');
  expect(again.segments).toEqual(shelf.segments);
  expect(again.epochs).toEqual([epochOf(0)]);
  expect(again.keeping).toBe('dvr');
  for (const seq of range(0, 50)) {
    expect(again.read(0, seq, 'v0')).toBeInstanceOf(Blob);
    expect(await readOf(again, seq)).toBe(writtenOf(seq));
  }
  expect(await fixture.files(STREAM)).toContain('0.epoch');
});

test('goes on after the last number, with a new epoch', async () => {
  const fixture = await newFixture();
  const before = await (await fixture.start()).open(STREAM);
  before.addEpoch(epochOf(0));
  await addSegments(fixture, before, range(0, 3));
  await before.close(false);
  const shelf = await (await fixture.start()).open(STREAM);
  shelf.addEpoch(epochOf(1));
  await addSegments(fixture, shelf, range(3, 6), { epoch: 1 });
  expect(() => shelf.add(...segmentOf(5, 1))).toThrow(RangeError);
  await shelf.close(false);
  const found = await (await fixture.start()).find(STREAM);
  expect(seqsOf(found)).toEqual(range(0, 6));
  expect(found?.epochs).toEqual([epochOf(0), epochOf(1)]);
});

test('[M-26] who watches goes back as far as the DVR window; files leave a minute later', async () => {
  const fixture = await newFixture({ dvrMs: 60_000 });
  const shelves = await fixture.start();
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 90));
  shelf.addEpoch(epochOf(1));
  await addSegments(fixture, shelf, range(90, 200), { epoch: 1 });
  await shelf.close(false);
  expect(seqsOf(shelf)).toEqual(range(140, 200));
  expect(shelf.epochs).toEqual([epochOf(1)]);
  // Whoever has the playlist of a moment ago.
  expect(await readOf(shelf, 130, 1)).toBe(writtenOf(130));
  await shelves.sweep();
  const files = await fixture.files(STREAM);
  expect(files.filter((name) => name.endsWith('.segment'))).toHaveLength(121);
  expect(files.filter((name) => name.endsWith('.epoch'))).toEqual(['0.epoch', '1.epoch']);
  shelf.addEpoch(epochOf(2));
  await addSegments(fixture, shelf, range(200, 300), { epoch: 2 });
  await shelf.close(false);
  await shelves.sweep();
  const later = await fixture.files(STREAM);
  expect(later.filter((name) => name.endsWith('.epoch'))).toEqual(['1.epoch', '2.epoch']);
  expect(await readOf(shelf, 130, 1)).toBeNull();
});

test('[M-27] a recording stays whole after the end, and for as long as there is room', async () => {
  const fixture = await newFixture({ dvrMs: 60_000 });
  const shelf = await (await fixture.start()).open(STREAM);
  shelf.keep('recording');
  expect(shelf.keeping).toBe('recording');
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 300));
  await shelf.close(true);
  fixture.clock.nowMs += 48 * HOUR_MS;
  const shelves = await fixture.start();
  await shelves.sweep();
  const found = await shelves.find(STREAM);
  expect(found?.keeping).toBe('recording');
  expect(seqsOf(found)).toEqual(range(0, 300));
  // It is no recording any more: then it is gone with its DVR window.
  found?.keep('dvr');
  await found?.close(true);
  await shelves.sweep();
  expect(await shelves.find(STREAM)).toBeNull();
});

test('[M-27] a recording is what the producer has it as, also when nobody sends any more', async () => {
  const fixture = await newFixture({ dvrMs: 60_000 });
  let isRecording: boolean | null = null;
  const shelves = await fixture.start({ isRecording: async () => isRecording });
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 50));
  await shelf.close(true);
  fixture.clock.nowMs += HOUR_MS;
  isRecording = true;
  await shelves.sweep();
  expect(shelf.keeping).toBe('recording');
  await shelf.written();
  const later = await fixture.start({ isRecording: async () => isRecording });
  await later.sweep();
  expect(seqsOf(await later.find(STREAM))).toEqual(range(0, 50));
  isRecording = false;
  await later.sweep();
  await (await later.open(STREAM)).written();
  await later.sweep();
  await later.sweep();
  expect(await later.find(STREAM)).toBeNull();
});

test('[M-27] what the database cannot tell about now is not removed', async () => {
  const fixture = await newFixture({ dvrMs: 60_000 });
  const unavailable = () => Promise.reject(new Error('the database is unavailable'));
  const shelves = await fixture.start({ isRecording: unavailable });
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 50));
  await shelf.close(true);
  fixture.clock.nowMs += HOUR_MS;
  await shelves.sweep();
  expect(seqsOf(await shelves.find(STREAM))).toEqual(range(0, 50));
});

test('[M-11] numbers go on when all segments have left', async () => {
  const fixture = await newFixture({ dvrMs: 60_000 });
  const shelves = await fixture.start();
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 50));
  await shelf.close(false);
  fixture.clock.nowMs += HOUR_MS;
  await shelves.sweep();
  await shelves.sweep();
  expect([seqsOf(shelf), shelf.nextSeq]).toEqual([[], 50]);
  await addSegments(fixture, shelf, range(50, 52));
  expect(seqsOf(shelf)).toEqual([50, 51]);
});

test('[M-26] an ended stream is gone, with its folder, when its DVR window has passed', async () => {
  const fixture = await newFixture({ dvrMs: 60_000 });
  const shelves = await fixture.start();
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 50));
  await shelf.close(true);
  fixture.clock.nowMs += 59_000;
  await shelves.sweep();
  expect(seqsOf(await shelves.find(STREAM))).toEqual(range(0, 50));
  fixture.clock.nowMs += 2_000;
  await shelves.sweep();
  expect(await shelves.find(STREAM)).toBeNull();
  expect(seqsOf(shelf)).toEqual([]);
  expect(await fixture.files(STREAM)).toEqual([]);
  expect(shelves.stats().bytes).toBe(0);
});

test('[M-26] a stream whose source never came back is gone in the same way', async () => {
  const fixture = await newFixture({ dvrMs: 60_000 });
  const shelf = await (await fixture.start()).open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 50));
  await shelf.close(false);
  const shelves = await fixture.start();
  fixture.clock.nowMs += 61_000;
  await shelves.sweep();
  expect(await shelves.find(STREAM)).toBeNull();
  expect(await fixture.files(STREAM)).toEqual([]);
});

test.each(['..', '../x', 'a/b', '', STREAM.toUpperCase(), `${STREAM}/..`, '\0'])(
  '%j is no stream, and no path',
  async (id) => {
    const shelves = await (await newFixture()).start();
    expect(await shelves.find(id)).toBeNull();
    expect(shelves.open(id)).rejects.toThrow(RangeError);
  },
);

test('one shelf for a stream, whoever asks at the same time', async () => {
  const fixture = await newFixture();
  const before = await (await fixture.start()).open(STREAM);
  before.addEpoch(epochOf(0));
  await addSegments(fixture, before, range(0, 20));
  await before.close(true);
  const shelves = await fixture.start();
  const [a, b, c] = await Promise.all([
    shelves.open(STREAM),
    shelves.find(STREAM),
    shelves.open(STREAM),
  ]);
  expect(a === c && b === a).toBe(true);
  expect(a.segments[0]?.startMs).toBe(BEGIN_MS);
});

test('what is on disk leaves memory when nothing is added for a minute', async () => {
  const fixture = await newFixture();
  const shelves = await fixture.start();
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 5));
  await shelves.sweep();
  expect(shelf.read(0, 4, 'v0')).toBeInstanceOf(Uint8Array);
  fixture.clock.nowMs += 61_000;
  await shelves.sweep();
  expect(shelf.read(0, 4, 'v0')).toBeInstanceOf(Blob);
  expect(await readOf(shelf, 4)).toBe(writtenOf(4));
});

test('a stream that goes on after its end has not ended', async () => {
  const fixture = await newFixture({ dvrMs: 60_000 });
  const shelves = await fixture.start();
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 10));
  await shelf.close(true);
  await addSegments(fixture, shelf, range(10, 100));
  await shelf.close(false);
  const again = await fixture.start();
  await again.sweep();
  expect(seqsOf(await again.find(STREAM))).toEqual(range(40, 100));
});
