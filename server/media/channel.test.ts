import { afterEach, expect, test } from 'bun:test';
import { bytesOf, settled } from '../../test/support/media/packager-fixture.ts';
import { BEGIN_MS } from '../../test/support/media/segment-store-fixture.ts';
import {
  FakeStreamSegments,
  MEDIA_CONFIG,
} from '../../test/support/media/source-registry-fixture.ts';
import type { MediaConfig } from '../platform/media-settings.ts';
import { replaceRuntime, SYSTEM_RUNTIME } from '../platform/runtime.ts';
import { Channel, PART_MS, targetLatencyMs } from './channel.ts';
import type { Part, Segment, Track, TrackBytes } from './segment.ts';

afterEach(() => replaceRuntime(SYSTEM_RUNTIME));

const PIECE = { startTicks: 0, durationTicks: 90_000, byteLength: 3 };
const pieces = new Map([['v0', PIECE]]);

function segment(seq: number, epoch = 0): [Segment, TrackBytes] {
  const startMs = BEGIN_MS + seq * 1_000;
  return [
    { seq, epoch, startMs, durationMs: 1_000, pieces },
    new Map([['v0', bytesOf(`segment ${seq}`)]]),
  ];
}

function part(index: number, text: string): [Part, TrackBytes] {
  return [{ index, isIndependent: index === 0, pieces }, new Map([['v0', bytesOf(text)]])];
}

function newChannel(config: Partial<MediaConfig> = {}, hasEnded = false) {
  const segments = new FakeStreamSegments();
  const channel = new Channel('one', segments, { ...MEDIA_CONFIG, ...config }, hasEnded, null);
  const failures: string[] = [];
  const sink = channel.sink(({ message }) => void failures.push(message));
  return { segments, channel, sink, failures };
}

/** Name of the first epoch. */
const EPOCH_NAME = BEGIN_MS;

const textOf = (bytes: Uint8Array | Blob | null) =>
  bytes === null ? null : new TextDecoder().decode(bytes as Uint8Array);
const epoch = (number: number) => ({
  number,
  tracks: [],
  startMs: BEGIN_MS + number * 1_000,
  inits: new Map([['v0', bytesOf(`init ${number}`)]]),
});

test('[M-11] the next epoch and segment continue the numbers and the time of the last', () => {
  const { sink } = newChannel();
  expect(sink.nextEpoch()).toEqual({ epoch: 0, seq: 0, notBeforeMs: 0 });
  sink.addEpoch(epoch(0));
  sink.addSegment(...segment(0));
  sink.addSegment(...segment(1));
  expect(sink.nextEpoch()).toEqual({ epoch: 1, seq: 2, notBeforeMs: BEGIN_MS + 2_000 });
});

test('[M-30] onChange runs on each segment, each part and the end', async () => {
  const { channel, sink } = newChannel({ latency: 'low' });
  const notified: string[] = [];
  const wait = (name: string) => {
    channel.onChange(channel.presentation().version, () => notified.push(name));
  };
  const expectNotified = async (name: string, change: () => unknown) => {
    wait(name);
    await settled();
    expect(notified).not.toContain(name);
    await change();
    await settled();
    expect(notified).toContain(name);
  };
  await expectNotified('segment', () => sink.addSegment(...segment(0)));
  await expectNotified('part', () => sink.addPart(1, ...part(0, 'a part')));
  await expectNotified('end', () => channel.end());
  channel.onChange(0, () => notified.push('an older version'));
  expect(notified.at(-1)).toBe('an older version');
  channel.onChange(channel.presentation().version, () => notified.push('forgotten'))();
  sink.addSegment(...segment(1));
  expect(notified).not.toContain('forgotten');
});

test('Channel.end closes the segments; a second call has no effect', async () => {
  const { channel, segments } = newChannel();
  await channel.end();
  expect(segments.closed).toEqual({ isEnded: true });
  segments.closed = null;
  const { version } = channel.presentation();
  await channel.end();
  expect(segments.closed).toBeNull();
  expect(channel.presentation()).toMatchObject({ isEnded: true, version });
  expect(newChannel({}, true).channel.presentation().isEnded).toBe(true);
});

test('[M-30] a channel holds the parts of the newest segments only', () => {
  const { channel, sink } = newChannel({ latency: 'low' });
  sink.addEpoch(epoch(0));
  for (let seq = 0; seq < 12; seq++) {
    sink.addPart(seq, ...part(0, `${seq}.0`));
    sink.addPart(seq, ...part(1, `${seq}.1`));
    sink.addSegment(...segment(seq));
  }
  const { parts, partMs } = channel.presentation();
  expect(partMs).toBe(PART_MS);
  expect([...parts.keys()]).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
  expect(textOf(channel.part(EPOCH_NAME, 11, 1, 'v0'))).toBe('11.1');
  expect(channel.part(EPOCH_NAME, 3, 0, 'v0')).toBeNull();
  expect(channel.part(EPOCH_NAME, 11, 2, 'v0')).toBeNull();
  expect(textOf(channel.segment(EPOCH_NAME, 3, 'v0'))).toBe('segment 3');
});

test('[M-30] a channel that gets no more parts releases them', () => {
  let nowMs = 0;
  replaceRuntime({ ...SYSTEM_RUNTIME, monotonicMs: () => nowMs });
  const { channel, sink } = newChannel({ latency: 'low' });
  sink.addEpoch(epoch(0));
  sink.addPart(0, ...part(0, 'a part'));
  sink.addSegment(...segment(0));
  const { version } = channel.presentation();
  nowMs = 29_999;
  channel.releaseOldParts();
  expect(channel.part(EPOCH_NAME, 0, 0, 'v0')).not.toBeNull();
  nowMs = 30_000;
  channel.releaseOldParts();
  expect(channel.part(EPOCH_NAME, 0, 0, 'v0')).toBeNull();
  // So that cached playlists do not list them.
  expect(channel.presentation().version).toBe(version + 1);
  expect(channel.presentation().parts.size).toBe(0);
  channel.releaseOldParts();
  expect(channel.presentation().version).toBe(version + 1);
});

test('[M-40] parts of an incomplete segment are removed before its number is reused', () => {
  const { channel, sink } = newChannel({ latency: 'low' });
  sink.addEpoch(epoch(0));
  sink.addPart(0, ...part(0, 'of the failed encoder'));
  sink.addEpoch(epoch(1));
  expect(channel.presentation().parts.get(0)).toBeUndefined();
  sink.addPart(0, ...part(0, 'of the next'));
  expect(channel.presentation().parts.get(0)).toHaveLength(1);
  expect(textOf(channel.part(BEGIN_MS + 1_000, 0, 0, 'v0'))).toBe('of the next');
  expect(channel.part(EPOCH_NAME, 0, 0, 'v0')).toBeNull();
});

test('the init segment is found by the name of its epoch', () => {
  const { channel, sink } = newChannel();
  sink.addEpoch(epoch(0));
  sink.addEpoch(epoch(1));
  expect(textOf(channel.init(BEGIN_MS + 1_000, 'v0'))).toBe('init 1');
  expect([channel.init(BEGIN_MS + 1_000, 'v9'), channel.init(1, 'v0')]).toEqual([null, null]);
});

test('[M-32] low latency playlists have no parts of the preview after the start', () => {
  const track = { id: 'v0', kind: 'video', timescale: 1_000 } as Track;
  const { channel, sink } = newChannel({ latency: 'low' });
  const partFrom = (index: number, startMs: number): [Part, TrackBytes] => {
    const piece = { startTicks: startMs, durationTicks: 250, byteLength: 3 };
    const pieces = new Map([['v0', piece]]);
    return [{ index, isIndependent: index === 0, pieces }, new Map([['v0', bytesOf('part')]])];
  };
  const listed = () => [...channel.presentation().parts].map(([seq, { length }]) => [seq, length]);
  channel.setStream({ recording: false, started: null, reopened: null });
  sink.addEpoch({ ...epoch(0), tracks: [track] });
  sink.addPart(0, ...partFrom(0, BEGIN_MS));
  sink.addSegment(...segment(0));
  sink.addPart(1, ...partFrom(0, BEGIN_MS + 1_000));
  expect([channel.isStarted(), listed()]).toEqual([
    false,
    [
      [0, 1],
      [1, 1],
    ],
  ]);
  channel.setStream({ recording: false, started: BEGIN_MS + 1_600, reopened: null });
  expect([channel.isStarted(), listed()]).toEqual([true, []]);
  sink.addPart(1, ...partFrom(1, BEGIN_MS + 1_250));
  expect(channel.part(EPOCH_NAME, 1, 0, 'v0')).toBeNull();
  sink.addPart(1, ...partFrom(2, BEGIN_MS + 1_500));
  sink.addSegment(...segment(1));
  sink.addPart(2, ...partFrom(0, BEGIN_MS + 2_000));
  expect(channel.presentation().segments.map(({ seq }) => seq)).toEqual([1]);
  // The segment in which the show starts has all its parts.
  expect(listed()).toEqual([
    [1, 3],
    [2, 1],
  ]);
  expect(textOf(channel.part(EPOCH_NAME, 1, 0, 'v0'))).toBe('part');
});

test('[M-26] [M-27] the DVR window is as configured, and for a live recording at least 2 hours', () => {
  const { channel, sink } = newChannel({ dvrMs: 60_000 });
  channel.setStream({ recording: true, started: 0, reopened: null });
  sink.addSegment(...segment(0));
  expect(channel.presentation().dvrMs).toBe(7_200_000);
  channel.setStream({ recording: false, started: 0, reopened: null });
  expect(channel.presentation().dvrMs).toBe(60_000);
});

test('[M-27] [M-30] a live recording has the epochs of its DVR window, all of them after the end, and a version', async () => {
  const { channel, segments, sink } = newChannel();
  segments.setRetention('recording');
  const HOURS = 5;
  for (let hour = 0; hour < HOURS; hour++) {
    sink.addEpoch(epoch(hour));
    const [listed, bytes] = segment(hour, hour);
    sink.addSegment({ ...listed, startMs: BEGIN_MS + hour * 3_600_000 }, bytes);
    const { epochs, segments } = channel.presentation();
    expect(epochs.map(({ number }) => number)).toEqual(segments.map((each) => each.epoch));
  }
  expect(channel.presentation().epochs.length).toBeLessThan(HOURS);
  // A request that waits for a change would run at once, and again for ever.
  let hasChanged = false;
  const { version } = channel.presentation();
  channel.onChange(version, () => {
    hasChanged = true;
  });
  expect(hasChanged).toBe(false);
  sink.addPart(HOURS, ...part(0, 'a part'));
  expect(channel.presentation().version).toBeGreaterThan(version);
  await channel.end();
  expect(channel.presentation().epochs).toHaveLength(HOURS);
});

test('[M-14] the target latency is under 5 s by default, and under 3 s with low latency', () => {
  const normalMs = targetLatencyMs(MEDIA_CONFIG);
  const lowMs = targetLatencyMs({ ...MEDIA_CONFIG, latency: 'low' });
  // Encoding and the network add to this.
  expect(normalMs).toBeLessThanOrEqual(4_000);
  expect(lowMs).toBeLessThanOrEqual(2_500);
  // A player needs two segments to play smoothly.
  expect(lowMs).toBeGreaterThanOrEqual(MEDIA_CONFIG.segmentMs + 2 * PART_MS);
  expect(normalMs).toBeGreaterThanOrEqual(2 * MEDIA_CONFIG.segmentMs);
  expect(newChannel().channel.presentation().partMs).toBeNull();
});

test('[M-16] a source that cannot be encoded gets the reason', () => {
  const { sink, failures } = newChannel();
  sink.onSourceFailed({ reason: 'not-understood', message: 'it has no video' });
  expect(failures).toEqual(['it has no video']);
});
