import { expect, test } from 'bun:test';
import { madeFragment, madeRun, TRACKS } from '../../test/support/media/made-fragments.ts';
import { findBox, int64, requireBox, uint32 } from './fmp4/box.ts';
import type { Fragment } from './fmp4/fragment.ts';
import type { Part, Piece, Segment, TrackId } from './segment.ts';
import { Segmenter, type SegmenterEvent, type SegmenterOptions } from './segmenter.ts';

const OFFSET_MS = 1_795_000_000_000;
const FROM_MS = 12_345;

type SegmentEvent = Extract<SegmenterEvent, { kind: 'segment' }>;
type PartEvent = Extract<SegmenterEvent, { kind: 'part' }>;

function newSegmenter(options: Partial<SegmenterOptions> = {}): Segmenter {
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

/** Decode times and sequence numbers, as they are in the bytes. */
function momentsIn(bytes: Uint8Array): { ticks: number; number: number }[] {
  const moments: { ticks: number; number: number }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const rest = bytes.subarray(at);
    const moof = findBox(rest, 0, rest.length, 'moof');
    if (!moof) break;
    const tfdt = requireBox(rest, moof, 'traf', 'tfdt');
    const mfhd = requireBox(rest, moof, 'mfhd');
    moments.push({
      ticks: int64(rest, tfdt.contentStart + 4),
      number: uint32(rest, mfhd.contentStart + 4),
    });
    at += moof.end + uint32(rest, moof.end);
  }
  return moments;
}

test('[M-11] segments begin with key frames, have all tracks, and are numbered on', () => {
  const segmenter = newSegmenter();
  const events = pushAll(segmenter, madeRun({ fromMs: FROM_MS, seconds: 4.5 }));
  expect(events[0]).toEqual({ kind: 'begin', startMs: OFFSET_MS + FROM_MS });
  const whole = segmentsOf(events);
  expect(whole.map(({ seq }) => seq)).toEqual([7, 8, 9, 10]);
  for (const [i, segment] of whole.entries()) {
    expect(segment.epoch).toBe(2);
    expect(segment.durationMs).toBe(1_000);
    expect(segment.startMs).toBe(OFFSET_MS + FROM_MS + i * 1_000);
    expect([...segment.pieces.keys()]).toEqual(['v0', 'v1', 'a0']);
    expect(piece(segment, 'v0').durationTicks).toBe(90_000);
    expect(piece(segment, 'v1').startTicks).toBe(piece(segment, 'v0').startTicks);
  }
  const [last] = segmentsOf(segmenter.finish());
  expect(last?.seq).toBe(11);
  // 67 frames in all.
  expect(last?.durationMs).toBeCloseTo((7 * 1_000) / 15);
});

test('[M-11] a key frame that comes too soon begins no segment, one that comes late does', () => {
  const early = newSegmenter();
  const durations = (run: SegmenterEvent[]) => segmentsOf(run).map(({ durationMs }) => durationMs);
  expect(durations(pushAll(early, madeRun({ fromMs: 0, seconds: 4, gop: 5, frames: 5 })))).toEqual([
    1_000, 1_000, 1_000,
  ]);
  const late = newSegmenter();
  const run = madeRun({ fromMs: 0, seconds: 4, gop: 18, frames: 6 });
  expect(durations(pushAll(late, run))).toEqual([1_200, 1_200, 1_200]);
});

test('[M-12] bytes, pieces and service time agree in every track; numbers of fragments rise', () => {
  const segmenter = newSegmenter();
  const events = pushAll(segmenter, madeRun({ fromMs: FROM_MS, seconds: 4.5 }));
  const numbers = new Map<TrackId, number>();
  const ends = new Map<TrackId, number>();
  for (const event of events) {
    if (event.kind !== 'segment') continue;
    for (const [id, { startTicks, durationTicks, byteLength }] of event.segment.pieces) {
      const bytes = event.bytes.get(id) as Uint8Array;
      expect(bytes.length).toBe(byteLength);
      const moments = momentsIn(bytes);
      expect(moments[0]?.ticks).toBe(startTicks);
      for (const { number } of moments) {
        expect(number).toBe((numbers.get(id) ?? 0) + 1);
        numbers.set(id, number);
      }
      expect(startTicks).toBe(ends.get(id) ?? startTicks);
      ends.set(id, startTicks + durationTicks);
    }
  }
});

test('sound is cut where it is nearest to the picture; none is lost, none comes twice', () => {
  const segmenter = newSegmenter();
  // Sound that began before the picture: what is before the first picture is not wanted.
  const run = madeRun({ fromMs: FROM_MS, seconds: 6, soundLateMs: -300 });
  const events = [...pushAll(segmenter, run), ...segmenter.finish()];
  const fragmentMs = (4 * 1_024) / 48;
  const segments = segmentsOf(events);
  expect(segments.length).toBeGreaterThan(4);
  for (const segment of segments) {
    const soundMs = piece(segment, 'a0').startTicks / 48;
    expect(Math.abs(soundMs - segment.startMs)).toBeLessThanOrEqual(fragmentMs / 2 + 0.01);
  }
  for (const [i, segment] of segments.entries()) {
    const next = segments[i + 1];
    const { startTicks, durationTicks } = piece(segment, 'a0');
    if (next) expect(startTicks + durationTicks).toBe(piece(next, 'a0').startTicks);
  }
});

test('a segment waits for its slowest track', () => {
  const segmenter = newSegmenter();
  const run = madeRun({ fromMs: 0, seconds: 3 });
  const slow = run.filter(([id]) => id === 'v1');
  const events = pushAll(
    segmenter,
    run.filter(([id]) => id !== 'v1'),
  );
  expect(events).toEqual([]);
  expect(segmentsOf(pushAll(segmenter, slow)).map(({ seq }) => seq)).toEqual([7, 8]);
});

test('[M-12] where the offset changes, durations are up to what comes next', () => {
  let offsetMs = OFFSET_MS;
  const segmenter = newSegmenter({
    timeline: {
      advance: (sourceMs) => offsetMs + (sourceMs >= 2_000 ? 1 : 0),
      offsetFor: () => offsetMs,
    },
  });
  const segments = segmentsOf(pushAll(segmenter, madeRun({ fromMs: 0, seconds: 4 })));
  expect(segments.map(({ durationMs }) => durationMs)).toEqual([1_000, 1_001, 1_000]);
  for (const id of ['v0', 'v1', 'a0']) {
    for (const [i, segment] of segments.entries()) {
      const { startTicks, durationTicks } = piece(segment, id);
      const next = segments[i + 1];
      if (next) expect(startTicks + durationTicks).toBe(piece(next, id).startTicks);
    }
  }
  offsetMs += 50;
  expect(() => pushAll(segmenter, madeRun({ fromMs: 4_000, seconds: 2 }))).toThrow('clock jumped');
});

test('an epoch begins with the first key frame after the end of the last', () => {
  const segmenter = newSegmenter({ notBeforeMs: OFFSET_MS + 1_500 });
  const events = pushAll(segmenter, madeRun({ fromMs: 0, seconds: 4.5 }));
  expect(events[0]).toEqual({ kind: 'begin', startMs: OFFSET_MS + 2_000 });
  expect(segmentsOf(events).map(({ startMs }) => startMs - OFFSET_MS)).toEqual([2_000, 3_000]);
});

test('[M-24] parts follow each other without a gap and make up their segment', () => {
  const segmenter = newSegmenter({ partMs: 500 });
  const run = madeRun({ fromMs: FROM_MS, seconds: 3.6, frames: 1 });
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
    const own = parts.filter(({ seq }) => seq === event.segment.seq);
    for (const [id, bytes] of event.bytes) {
      const joined = Buffer.concat(own.flatMap((part) => part.bytes.get(id) ?? []));
      expect(joined.equals(bytes)).toBe(true);
    }
  }
});

test('a part comes as soon as it is whole, not when the next has begun', () => {
  const segmenter = newSegmenter({ partMs: 500 });
  // 8 frames of 15 a second are 533 ms.
  const run = madeRun({ fromMs: 0, seconds: 8 / 15, frames: 1 });
  const sound = madeRun({ fromMs: 0, seconds: 1 }).filter(([id]) => id === 'a0');
  const events = pushAll(segmenter, [...sound, ...run.filter(([id]) => id !== 'a0')]);
  expect(partsOf(events)).toHaveLength(1);
});

test('what is left at the end ends where the shortest rendition does', () => {
  const segmenter = newSegmenter();
  const run = madeRun({ fromMs: 0, seconds: 2.8 });
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

test('nothing that is whole is nothing at the end', () => {
  expect(newSegmenter().finish()).toEqual([]);
  const segmenter = newSegmenter();
  pushAll(
    segmenter,
    madeRun({ fromMs: 0, seconds: 0.5 }).filter(([id]) => id !== 'a0'),
  );
  expect(segmenter.finish()).toEqual([]);
});

test.each([
  ['v1', 'nothing came of v1 for 10 s'],
  ['v0', 'nothing came of v0 for 10 s'],
  ['a0', 'nothing came of a0 for 10 s'],
])('a silence of %p is told', (silent, message) => {
  const segmenter = newSegmenter();
  const run = madeRun({ fromMs: 0, seconds: 12 }).filter(([id]) => id !== silent);
  expect(() => pushAll(segmenter, run)).toThrow(message);
});

test('what players could not follow is told', () => {
  const v0 = (startTicks: number, isSync: boolean): [TrackId, Fragment] => [
    'v0',
    madeFragment({ startTicks, durations: [45_000], isSync }),
  ];
  const noKey = newSegmenter();
  expect(() => pushAll(noKey, [v0(0, true), v0(45_000, false), v0(90_000, false)])).toThrow(
    'no key frame came for 1500 ms',
  );
  expect(() => pushAll(newSegmenter(), [v0(0, true), v0(90_000, true)])).toThrow(
    'v0 jumped by 500',
  );
  const never = Array.from({ length: 45 }, (_, i) => v0(i * 45_000, false));
  const alone = newSegmenter({ tracks: TRACKS.slice(0, 1) });
  expect(() => pushAll(alone, never)).toThrow('no key frame came to begin with');
  const crooked = newSegmenter();
  const run = madeRun({ fromMs: 0, seconds: 3 }).map(([id, fragment]): [TrackId, Fragment] =>
    id === 'v1' ? [id, { ...fragment, isSync: false }] : [id, fragment],
  );
  expect(() => pushAll(crooked, run)).toThrow('v1 has no key frame where v0 has one');
  expect(() => newSegmenter().push('v9', madeFragment({ startTicks: 0, durations: [1] }))).toThrow(
    'no track v9',
  );
});
