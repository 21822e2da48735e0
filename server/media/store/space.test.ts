import { afterEach, expect, test } from 'bun:test';
import {
  addSegments,
  epochOf,
  newFixture,
  range,
  readOf,
  removeFixtures,
  seqsOf,
  writtenOf,
} from '../../../test/support/media/segment-store-fixture.ts';

const STREAM = '0b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const OTHER = '1b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const HOUR_MS = 3_600_000;

afterEach(removeFixtures);

test('[M-28] over its space the oldest goes first: of streams that ended, then of live ones', async () => {
  const spaceBytes = 100 * 8192;
  const fixture = await newFixture({ spaceBytes, dvrMs: HOUR_MS });
  const shelves = await fixture.start();
  const ended = await shelves.open(OTHER);
  ended.keep('recording');
  ended.addEpoch(epochOf(0));
  await addSegments(fixture, ended, range(0, 40), { videoBytes: 5000 });
  await ended.close(true);
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 80), { videoBytes: 5000 });
  await shelf.close(false);
  expect(shelves.stats().bytes).toBe(spaceBytes);
  expect(seqsOf(await shelves.find(OTHER))).toEqual(range(20, 40));
  expect(seqsOf(shelf)).toEqual(range(0, 80));
  await addSegments(fixture, shelf, range(80, 130), { videoBytes: 5000 });
  await shelf.close(false);
  expect(await shelves.find(OTHER)).toBeNull();
  expect(seqsOf(shelf)).toEqual(range(30, 130));
  expect(shelves.stats()).toEqual({ bytes: spaceBytes, evicted: 70, fullStreams: 0 });
  expect(await readOf(shelf, 29)).toBeNull();
  expect(await readOf(shelf, 30)).toBe(writtenOf(30, 5000));
});

test('[M-28] a stream that ended goes before a live one, though the live one is older', async () => {
  const fixture = await newFixture({ spaceBytes: 100 * 4096, dvrMs: HOUR_MS });
  const shelves = await fixture.start();
  const shelf = await shelves.open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 50));
  const ended = await shelves.open(OTHER);
  ended.addEpoch(epochOf(0));
  await addSegments(fixture, ended, range(20, 60));
  await ended.close(true);
  await addSegments(fixture, shelf, range(50, 80));
  expect(seqsOf(shelf)).toEqual(range(0, 80));
  expect(seqsOf(ended)).toEqual(range(40, 60));
});

test('[M-27] [M-28] the log tells that recordings lose their beginning, once a minute', async () => {
  const fixture = await newFixture({ spaceBytes: 100 * 4096, dvrMs: HOUR_MS });
  const shelves = await fixture.start();
  const other = await shelves.open(OTHER);
  other.addEpoch(epochOf(0));
  await addSegments(fixture, other, range(0, 50));
  await other.close(true);
  const shelf = await shelves.open(STREAM);
  shelf.keep('recording');
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 100));
  expect(fixture.lines).toEqual([]);
  for (const seq of range(100, 250)) await addSegments(fixture, shelf, [seq]);
  expect(seqsOf(shelf)).toEqual(range(150, 250));
  expect(fixture.lines).toMatchObject(
    [1, 61, 121].map((segments) => ({ level: 30, stream: STREAM, segments })),
  );
});
