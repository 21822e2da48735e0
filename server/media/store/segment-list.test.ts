import { afterEach, expect, test } from 'bun:test';
import {
  addSegments,
  BEGIN_MS,
  epochOf,
  gapsOf,
  newFixture,
  range,
  removeFixtures,
  segmentOf,
  seqsOf,
} from '../../../test/support/media/segment-store-fixture.ts';
import { isGap } from '../segment.ts';
import { SegmentList } from './segment-list.ts';

const STREAM = '0b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const HOUR_MS = 3_600_000;

afterEach(removeFixtures);

test('[M-11] numbers that came to nothing are gaps; before very many of them nothing is shown', async () => {
  const fixture = await newFixture({ dvrMs: 48 * HOUR_MS });
  const shelf = await (await fixture.start()).open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, range(0, 10));
  await addSegments(fixture, shelf, range(12, 15));
  const [last] = segmentOf(14);
  await addSegments(fixture, shelf, [20_015]);
  expect([seqsOf(shelf), gapsOf(shelf).length]).toEqual([
    [...range(0, 10), ...range(12, 15), 20_015],
    20_002,
  ]);
  expect(shelf.segments[14]).toEqual(last);
  await addSegments(fixture, shelf, [40_017]);
  expect([seqsOf(shelf), gapsOf(shelf)]).toEqual([[40_017], []]);
  await shelf.close(true);
  const found = await (await fixture.start()).find(STREAM);
  expect([seqsOf(found), gapsOf(found)]).toEqual([[40_017], []]);
});

test('a disk that is full for hours costs what was before it, and no memory', () => {
  const list = new SegmentList(range(0, 20_012).map((seq) => segmentOf(seq)[0]));
  for (const seq of range(10, 20_010)) list.lose(segmentOf(seq)[0]);
  expect([list.segments.length, list.segments[0]?.seq]).toEqual([20_012, 0]);
  list.lose(segmentOf(20_010)[0]);
  expect(list.segments).toEqual([segmentOf(20_011)[0]]);
});

test('gaps last as long as what they stand for, and no longer where the source was unavailable', async () => {
  const fixture = await newFixture();
  const shelf = await (await fixture.start()).open(STREAM);
  shelf.addEpoch(epochOf(0));
  await addSegments(fixture, shelf, [0, 3]);
  shelf.addEpoch(epochOf(1));
  const [late, bytes] = segmentOf(6, 1);
  shelf.add({ ...late, startMs: BEGIN_MS + 300_000 }, bytes);
  const gaps = shelf.segments.filter(isGap);
  expect(gaps.map(({ startMs }) => startMs - BEGIN_MS)).toEqual([1_000, 2_000, 4_000, 5_000]);
  expect(gaps.map(({ durationMs, epoch }) => [durationMs, epoch])).toEqual(
    Array.from({ length: 4 }, () => [1_000, 0]),
  );
});

test('it begins with a segment that is there, whatever leaves', () => {
  const list = new SegmentList(range(0, 20).map((seq) => segmentOf(seq)[0]));
  const lose = (...seqs: number[]) => {
    for (const seq of seqs) list.lose(segmentOf(seq)[0]);
  };
  const seqs = () => list.segments.map((each) => (isGap(each) ? -each.seq : each.seq));
  lose(3, 4, 9, 10, 13);
  expect(list.leaveTo(1)).toBe(true);
  expect(seqs()).toEqual([2, -3, -4, 5, 6, 7, 8, -9, -10, 11, 12, -13, ...range(14, 20)]);
  expect(list.leaveTo(2)).toBe(true);
  expect([seqs()[0], list.leaveTo(2)]).toEqual([5, false]);
  lose(5, 6);
  expect(seqs()[0]).toBe(7);
  list.leaveWindow(11_000);
  expect(seqs()).toEqual([11, 12, -13, ...range(14, 20)]);
  // Who has the playlist of a moment ago finds them, but for what was lost.
  expect([7, 8, 9, 10, 13, 20].map((seq) => list.find(seq)?.pieces.size ?? null)).toEqual([
    ...[2, 2, null, null, 0, null],
  ]);
  list.put(segmentOf(13)[0]);
  list.put(segmentOf(10)[0]);
  expect(seqs()).toEqual(range(11, 20));
  expect(list.leaveFromEnd((seq) => seq < 15)).toBe(true);
  expect(seqs()).toEqual(range(11, 15));
});
