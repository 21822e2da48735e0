import { afterEach, expect, test } from 'bun:test';
import {
  addSegments,
  BEGIN_MS,
  epochOf,
  gapsOf,
  range,
  removeFixtures,
  STREAM,
  segmentOf,
  seqsOf,
  startStream,
} from '../../../test/support/media/segment-store-fixture.ts';
import { isGap } from '../segment.ts';
import { SegmentList } from './segment-list.ts';

const HOUR_MS = 3_600_000;

function listOf(seqs: readonly number[]): SegmentList {
  const list = new SegmentList();
  for (const seq of seqs) list.add(segmentOf(seq)[0]);
  return list;
}

afterEach(removeFixtures);

test('[M-32] removed segments between others are gaps, and the last entry is none', () => {
  const list = listOf([0, 1, 4, 5, 6]);
  const entries = () => list.segments.map((each) => (isGap(each) ? 'gap' : each.seq));
  list.removeBetween(4, BEGIN_MS + 6_000);
  expect(entries()).toEqual([0, 1, 'gap', 'gap', 'gap', 'gap', 6]);
  list.removeBetween(4, BEGIN_MS + 7_000);
  expect(entries()).toEqual([0, 1]);
});

test('[M-32] a removed preview of over 20,000 segments leaves the show before it in the list', () => {
  const list = new SegmentList(() => 3);
  const seqs = () => list.segments.filter((each) => !isGap(each)).map(({ seq }) => seq);
  for (const seq of range(0, 20_010)) list.add(segmentOf(seq)[0]);
  list.removeBetween(3, BEGIN_MS + 20_008_000);
  list.replaceWithGap(segmentOf(20_008)[0]);
  expect([seqs(), list.segments.length]).toEqual([[0, 1, 2, 20_009], 20_010]);
  // A gap in the show after the preview may not be that long.
  list.add(segmentOf(40_011)[0]);
  expect(seqs()).toEqual([40_011]);
});

test('[M-11] missing numbers become gaps, and segments before a very long gap are dropped', async () => {
  const { fixture, segments } = await startStream({ dvrMs: 48 * HOUR_MS });
  await addSegments(fixture, segments, range(0, 10));
  await addSegments(fixture, segments, range(12, 15));
  const [last] = segmentOf(14);
  await addSegments(fixture, segments, [20_015]);
  expect([seqsOf(segments), gapsOf(segments).length]).toEqual([
    [...range(0, 10), ...range(12, 15), 20_015],
    20_002,
  ]);
  expect(segments.segments[14]).toEqual(last);
  await addSegments(fixture, segments, [40_017]);
  expect([seqsOf(segments), gapsOf(segments)]).toEqual([[40_017], []]);
  await segments.close(true);
  const reloaded = await (await fixture.start()).find(STREAM);
  expect([seqsOf(reloaded), gapsOf(reloaded)]).toEqual([[40_017], []]);
});

test('a segment list drops everything before a gap of hours', () => {
  const list = listOf(range(0, 20_012));
  for (const seq of range(10, 20_010)) list.replaceWithGap(segmentOf(seq)[0]);
  expect([list.segments.length, list.segments[0]?.seq]).toEqual([20_012, 0]);
  list.replaceWithGap(segmentOf(20_010)[0]);
  expect(list.segments).toEqual([segmentOf(20_011)[0]]);
});

test('gaps cover the time of missing segments, without the time between two epochs', async () => {
  const { fixture, segments } = await startStream();
  await addSegments(fixture, segments, [0, 3]);
  segments.addEpoch(epochOf(1));
  const [segment, bytes] = segmentOf(6, 1);
  segments.add({ ...segment, startMs: BEGIN_MS + 300_000 }, bytes);
  const gaps = segments.segments.filter(isGap);
  expect(gaps.map(({ startMs }) => startMs - BEGIN_MS)).toEqual([1_000, 2_000, 4_000, 5_000]);
  expect(gaps.map(({ durationMs, epoch }) => [durationMs, epoch])).toEqual(
    Array.from({ length: 4 }, () => [1_000, 0]),
  );
});

test('a segment list never begins with a gap, whatever is removed', () => {
  const list = listOf(range(0, 20));
  const lose = (...seqs: number[]) => {
    for (const seq of seqs) list.replaceWithGap(segmentOf(seq)[0]);
  };
  const seqs = () => list.segments.map((each) => (isGap(each) ? -each.seq : each.seq));
  lose(3, 4, 9, 10, 13);
  expect(list.removeThrough(1)).toBe(true);
  expect(seqs()).toEqual([2, -3, -4, 5, 6, 7, 8, -9, -10, 11, 12, -13, ...range(14, 20)]);
  expect(list.removeThrough(2)).toBe(true);
  expect([seqs()[0], list.removeThrough(2)]).toEqual([5, false]);
  lose(5, 6);
  expect(seqs()[0]).toBe(7);
  list.trimToWindow(11_000);
  expect(seqs()).toEqual([11, 12, -13, ...range(14, 20)]);
  // Recently removed segments are found, except lost ones.
  expect([7, 8, 9, 10, 13, 20].map((seq) => list.find(seq)?.pieces.size ?? null)).toEqual([
    ...[2, 2, null, null, 0, null],
  ]);
  list.replace(segmentOf(13)[0]);
  list.replace(segmentOf(10)[0]);
  expect(seqs()).toEqual(range(11, 20));
  expect(list.truncate((seq) => seq < 15)).toBe(true);
  expect(seqs()).toEqual(range(11, 15));
});
