import { expect, test } from 'bun:test';
import { createFragment, createRun, TRACKS } from '../../test/support/media/fragment-fixture.ts';
import { findBox, int64, requireBox, uint32 } from './fmp4/box.ts';
import type { Fragment } from './fmp4/fragment.ts';
import type { Part, Piece, Segment, TrackId } from './segment.ts';
import { Segmenter, type SegmenterEvent, type SegmenterOptions } from './segmenter.ts';

const OFFSET_MS = 1_795_000_000_000;
const FROM_MS = 12_345;

type SegmentEvent = Extract<SegmenterEvent, { kind: 'segment' }>;
type PartEvent = Extract<SegmenterEvent, { kind: 'part' }>;

function createSegmenter(options: Partial<SegmenterOptions> = {}): Segmenter {
  return new Segmenter({
    epoch: 2,
    firstSeq: 7,
    notBeforeMs: 0,
    segmentMs: 1_000,
    partMs: null,
    tracks: TRACKS,
    timeline: { advance: () => OFFSET_MS, offsetFor: () => OFFSET_MS },
    ...options,
  });
}

function pushAll(segmenter: Segmenter, run: readonly [TrackId, Fragment][]): SegmenterEvent[] {
  return run.flatMap(([id, fragment]) => segmenter.push(id, fragment));
}

const segmentsOf = (events: readonly SegmenterEvent[]): Segment[] =>
  events.filter((event): event is SegmentEvent => event.kind === 'segment').map((e) => e.segment);

const partsOf = (events: readonly SegmenterEvent[]): PartEvent[] =>
  events.filter((event): event is PartEvent => event.kind === 'part');

const piece = ({ pieces }: Segment | Part, id: TrackId): Piece => pieces.get(id) as Piece;

/** Reads the decode times and sequence numbers of fragments. */
function readFragmentTimes(bytes: Uint8Array): { ticks: number; number: number }[] {
  const times: { ticks: number; number: number }[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const rest = bytes.subarray(offset);
    const moof = findBox(rest, 0, rest.length, 'moof');
    if (!moof) break;
    const tfdt = requireBox(rest, moof, 'traf', 'tfdt');
    const mfhd = requireBox(rest, moof, 'mfhd');
    times.push({
      ticks: int64(rest, tfdt.contentStart + 4),
      number: uint32(rest, mfhd.contentStart + 4),
    });
    offset += moof.end + uint32(rest, moof.end);
  }
  return times;
}

test('[M-11] segments start with key frames, have all tracks and consecutive numbers', () => {
  const segmenter = createSegmenter();
  const events = pushAll(segmenter, createRun({ fromMs: FROM_MS, seconds: 4.5 }));
  expect(events[0]).toEqual({ kind: 'begin', startMs: OFFSET_MS + FROM_MS });
  const segments = segmentsOf(events);
  expect(segments.map(({ seq }) => seq)).toEqual([7, 8, 9, 10]);
  for (const [i, segment] of segments.entries()) {
    expect(segment.epoch).toBe(2);
    expect(segment.durationMs).toBe(1_000);
    expect(segment.startMs).toBe(OFFSET_MS + FROM_MS + i * 1_000);
    expect([...segment.pieces.keys()]).toEqual(['v0', 'v1', 'a0']);
    expect(piece(segment, 'v0').durationTicks).toBe(90_000);
    expect(piece(segment, 'v1').startTicks).toBe(piece(segment, 'v0').startTicks);
  }
  const [last] = segmentsOf(segmenter.finish());
  expect(last?.seq).toBe(11);
  // The run has 67 frames; four segments of 15 frames leave 7.
  expect(last?.durationMs).toBeCloseTo((7 * 1_000) / 15);
});

test('[M-11] a segment ends at the first key frame after segmentMs, and at no earlier one', () => {
  const early = createSegmenter();
  const durations = (run: SegmenterEvent[]) => segmentsOf(run).map(({ durationMs }) => durationMs);
  expect(
    durations(pushAll(early, createRun({ fromMs: 0, seconds: 4, gop: 5, frames: 5 }))),
  ).toEqual([1_000, 1_000, 1_000]);
  const late = createSegmenter();
  const run = createRun({ fromMs: 0, seconds: 4, gop: 18, frames: 6 });
  expect(durations(pushAll(late, run))).toEqual([1_200, 1_200, 1_200]);
});

test('[M-12] bytes, pieces and service time agree in every track, and sequence numbers increase', () => {
  const segmenter = createSegmenter();
  const events = pushAll(segmenter, createRun({ fromMs: FROM_MS, seconds: 4.5 }));
  const numbers = new Map<TrackId, number>();
  const ends = new Map<TrackId, number>();
  for (const event of events) {
    if (event.kind !== 'segment') continue;
    for (const [id, { startTicks, durationTicks, byteLength }] of event.segment.pieces) {
      const bytes = event.bytes.get(id) as Uint8Array;
      expect(bytes.length).toBe(byteLength);
      const times = readFragmentTimes(bytes);
      expect(times[0]?.ticks).toBe(startTicks);
      for (const { number } of times) {
        expect(number).toBe((numbers.get(id) ?? 0) + 1);
        numbers.set(id, number);
      }
      expect(startTicks).toBe(ends.get(id) ?? startTicks);
      ends.set(id, startTicks + durationTicks);
    }
  }
});

test('audio is cut nearest to the video, without loss or repetition', () => {
  const segmenter = createSegmenter();
  // Audio before the first video frame is dropped.
  const run = createRun({ fromMs: FROM_MS, seconds: 6, audioDelayMs: -300 });
  const events = [...pushAll(segmenter, run), ...segmenter.finish()];
  const fragmentMs = (4 * 1_024) / 48;
  const segments = segmentsOf(events);
  expect(segments.length).toBeGreaterThan(4);
  for (const segment of segments) {
    const audioMs = piece(segment, 'a0').startTicks / 48;
    expect(Math.abs(audioMs - segment.startMs)).toBeLessThanOrEqual(fragmentMs / 2 + 0.01);
  }
  for (const [i, segment] of segments.entries()) {
    const next = segments[i + 1];
    const { startTicks, durationTicks } = piece(segment, 'a0');
    if (next) expect(startTicks + durationTicks).toBe(piece(next, 'a0').startTicks);
  }
});

test('a segment waits for its slowest track', () => {
  const segmenter = createSegmenter();
  const run = createRun({ fromMs: 0, seconds: 3 });
  const slow = run.filter(([id]) => id === 'v1');
  const events = pushAll(
    segmenter,
    run.filter(([id]) => id !== 'v1'),
  );
  expect(events).toEqual([]);
  expect(segmentsOf(pushAll(segmenter, slow)).map(({ seq }) => seq)).toEqual([7, 8]);
});

test('[M-12] a segment ends where the next one starts when the offset changes', () => {
  let offsetMs = OFFSET_MS;
  const segmenter = createSegmenter({
    timeline: {
      advance: (sourceMs) => offsetMs + (sourceMs >= 2_000 ? 1 : 0),
      offsetFor: () => offsetMs,
    },
  });
  const segments = segmentsOf(pushAll(segmenter, createRun({ fromMs: 0, seconds: 4 })));
  expect(segments.map(({ durationMs }) => durationMs)).toEqual([1_000, 1_001, 1_000]);
  for (const id of ['v0', 'v1', 'a0']) {
    for (const [i, segment] of segments.entries()) {
      const { startTicks, durationTicks } = piece(segment, id);
      const next = segments[i + 1];
      if (next) expect(startTicks + durationTicks).toBe(piece(next, id).startTicks);
    }
  }
  offsetMs += 50;
  expect(() => pushAll(segmenter, createRun({ fromMs: 4_000, seconds: 2 }))).toThrow(
    'clock jumped',
  );
});

test('an epoch starts with the first key frame after the end of the previous epoch', () => {
  const segmenter = createSegmenter({ notBeforeMs: OFFSET_MS + 1_500 });
  const events = pushAll(segmenter, createRun({ fromMs: 0, seconds: 4.5 }));
  expect(events[0]).toEqual({ kind: 'begin', startMs: OFFSET_MS + 2_000 });
  expect(segmentsOf(events).map(({ startMs }) => startMs - OFFSET_MS)).toEqual([2_000, 3_000]);
});

test('[M-24] parts are contiguous and add up to their segment', () => {
  const segmenter = createSegmenter({ partMs: 500 });
  const run = createRun({ fromMs: FROM_MS, seconds: 3.6, frames: 1 });
  const events = [...pushAll(segmenter, run), ...segmenter.finish()];
  const parts = partsOf(events);
  expect(parts.map(({ seq, part }) => `${seq}.${part.index}`)).toEqual([
    '7.0',
    '7.1',
    '8.0',
    '8.1',
    '9.0',
    '9.1',
    '10.0',
    '10.1',
  ]);
  const frames = parts.map(({ part }) => piece(part, 'v0').durationTicks / 6_000);
  expect(frames).toEqual([8, 7, 8, 7, 8, 7, 8, 1]);
  for (const { part } of parts) expect(part.isIndependent).toBe(part.index === 0);
  for (const { part } of parts.slice(0, -1)) {
    expect([...part.pieces.keys()]).toEqual(['v0', 'v1', 'a0']);
  }
  for (const event of events) {
    if (event.kind !== 'segment') continue;
    const segmentParts = parts.filter(({ seq }) => seq === event.segment.seq);
    for (const [id, bytes] of event.bytes) {
      const partBytes = Buffer.concat(segmentParts.flatMap((part) => part.bytes.get(id) ?? []));
      expect(partBytes.equals(bytes)).toBe(true);
    }
  }
});

test('a part is emitted as soon as it is complete', () => {
  const segmenter = createSegmenter({ partMs: 500 });
  // 8 frames of 15 a second are 533 ms.
  const run = createRun({ fromMs: 0, seconds: 8 / 15, frames: 1 });
  const audio = createRun({ fromMs: 0, seconds: 1 }).filter(([id]) => id === 'a0');
  const events = pushAll(segmenter, [...audio, ...run.filter(([id]) => id !== 'a0')]);
  expect(partsOf(events)).toHaveLength(1);
});

test('the last segment ends with the shortest rendition', () => {
  const segmenter = createSegmenter();
  const run = createRun({ fromMs: 0, seconds: 2.8 });
  const events = pushAll(
    segmenter,
    run.filter(([id, { startTicks }]) => id !== 'v1' || startTicks < 90_000 * 2.2),
  );
  const [last, ...more] = segmentsOf(segmenter.finish());
  expect(segmentsOf(events).map(({ seq }) => seq)).toEqual([7, 8]);
  expect(more).toEqual([]);
  expect(last?.durationMs).toBe(400);
  expect(last && piece(last, 'v1').durationTicks).toBe(36_000);
  expect(segmenter.finish()).toEqual([]);
});

test('an incomplete segment is dropped at the end', () => {
  expect(createSegmenter().finish()).toEqual([]);
  const segmenter = createSegmenter();
  pushAll(
    segmenter,
    createRun({ fromMs: 0, seconds: 0.5 }).filter(([id]) => id !== 'a0'),
  );
  expect(segmenter.finish()).toEqual([]);
});

test.each([
  ['v1', 'no data of v1 for 10 s'],
  ['v0', 'no data of v0 for 10 s'],
  ['a0', 'no data of a0 for 10 s'],
])('missing data of %p is an error', (silent, message) => {
  const segmenter = createSegmenter();
  const run = createRun({ fromMs: 0, seconds: 12 }).filter(([id]) => id !== silent);
  expect(() => pushAll(segmenter, run)).toThrow(message);
});

test('an unplayable timeline is an error', () => {
  const v0 = (startTicks: number, isSync: boolean): [TrackId, Fragment] => [
    'v0',
    createFragment({ startTicks, durations: [45_000], isSync }),
  ];
  const noKey = createSegmenter();
  expect(() => pushAll(noKey, [v0(0, true), v0(45_000, false), v0(90_000, false)])).toThrow(
    'no key frame for 1500 ms',
  );
  expect(() => pushAll(createSegmenter(), [v0(0, true), v0(90_000, true)])).toThrow(
    'the times of v0 jumped by 500',
  );
  const withoutKeyFrames = Array.from({ length: 45 }, (_, i) => v0(i * 45_000, false));
  const videoOnly = createSegmenter({ tracks: TRACKS.slice(0, 1) });
  expect(() => pushAll(videoOnly, withoutKeyFrames)).toThrow(
    'no key frame to start the epoch with',
  );
  const misaligned = createSegmenter();
  const run = createRun({ fromMs: 0, seconds: 3 }).map(([id, fragment]): [TrackId, Fragment] =>
    id === 'v1' ? [id, { ...fragment, isSync: false }] : [id, fragment],
  );
  expect(() => pushAll(misaligned, run)).toThrow('v1 has no key frame where v0 has one');
  expect(() =>
    createSegmenter().push('v9', createFragment({ startTicks: 0, durations: [1] })),
  ).toThrow('unknown track v9');
});

test('[M-30] segments keep all their parts when the tracks stop being aligned', () => {
  const segmenter = createSegmenter({ partMs: 334 });
  // The second segment of v1 starts without a key frame. The audio is late, and arrives at once.
  const run = createRun({ fromMs: 0, seconds: 3.5, audioFrames: 47 })
    .map(([id, fragment]): [TrackId, Fragment] =>
      id === 'v1' && fragment.startTicks === 180_000
        ? [id, { ...fragment, isSync: false }]
        : [id, fragment],
    )
    .sort(([a], [b]) => Number(a === 'a0') - Number(b === 'a0'));
  const events: SegmenterEvent[] = [];
  const pushRun = () => {
    for (const [id, fragment] of run) events.push(...segmenter.push(id, fragment));
  };
  expect(pushRun).toThrow('v1 has no key frame where v0 has one');
  events.push(...segmenter.finish());
  const segments = events.filter((event): event is SegmentEvent => event.kind === 'segment');
  expect(segments.map(({ segment }) => [segment.seq, segment.durationMs])).toEqual([
    [7, 1_000],
    [8, 1_000],
  ]);
  for (const { segment, bytes } of segments) {
    const parts = partsOf(events).filter(({ seq }) => seq === segment.seq);
    expect(parts.map(({ part }) => part.index)).toEqual(parts.map((_, index) => index));
    const partBytes = Buffer.concat(parts.flatMap((part) => part.bytes.get('v0') ?? []));
    expect(partBytes.equals(bytes.get('v0') ?? Buffer.alloc(0))).toBe(true);
  }
  expect(segmenter.finish()).toEqual([]);
});
