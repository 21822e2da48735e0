import { describe, expect, spyOn, test } from 'bun:test';
import {
  AUDIO_INPUT,
  H264_ENCODER,
  runFfmpeg,
  VIDEO_INPUT,
} from '../../../test/support/media/ffmpeg-fixture.ts';
import { concatBytes } from '../byte-queue.ts';
import { MpegTsReader } from '../container/mpegts.ts';
import {
  decodingTicks,
  PACKET_BYTES,
  readPacket,
  TICKS_PER_MS,
  ticksBetween,
  WRAP_TICKS,
} from '../container/mpegts-packet.ts';
import { MpegTsPictureFiller } from './mpegts-picture-filler.ts';

/** PID of the first stream in ffmpeg's MPEG-TS. */
const VIDEO_PID = 0x100;
/** Video is missing in this part of a source, ms. */
const MISSING = { fromMs: 2_000, toMs: 5_000 };
/** Three seconds before the times of MPEG-TS wrap. */
const BEFORE_WRAP_S = WRAP_TICKS / TICKS_PER_MS / 1_000 - 3;

function sourceAt(offsetS: number): Uint8Array {
  return runFfmpeg([
    ...['-t', '7', ...VIDEO_INPUT, '-t', '7', ...AUDIO_INPUT],
    ...[...H264_ENCODER, '-c:a', 'aac', '-output_ts_offset', String(offsetS), '-f', 'mpegts'],
  ]);
}

const packetsOf = (bytes: Uint8Array) =>
  Array.from({ length: bytes.length / PACKET_BYTES }, (_, index) =>
    bytes.subarray(index * PACKET_BYTES, (index + 1) * PACKET_BYTES),
  );
const videoOf = (bytes: Uint8Array) =>
  packetsOf(bytes).filter((packet) => readPacket(packet).pid === VIDEO_PID);

/** Decoding times of the video, ms after the first. */
function videoTimesMs(bytes: Uint8Array): number[] {
  const ticks = videoOf(bytes).flatMap((packet) => {
    const { startsPayloadUnit, content } = readPacket(packet);
    return startsPayloadUnit ? [decodingTicks(packet, content) ?? Number.NaN] : [];
  });
  return ticks.map((one) => ticksBetween(ticks[0] as number, one) / TICKS_PER_MS);
}

/** A source whose video is missing for a time, without and with the repeated pictures. */
function interrupted(source: Uint8Array) {
  const reader = new MpegTsReader();
  const filler = new MpegTsPictureFiller(() => true);
  let firstMs: number | null = null;
  const units = reader.push(source).map((unit) => {
    firstMs ??= unit.sourceMs;
    const atMs = (unit.sourceMs ?? 0) - (firstMs ?? 0);
    const isMissing = atMs >= MISSING.fromMs && atMs < MISSING.toMs;
    const packets = packetsOf(unit.bytes).filter((one) => readPacket(one).pid !== VIDEO_PID);
    return isMissing ? concatBytes(packets) : unit.bytes;
  });
  const sent = concatBytes(units);
  const filled = new MpegTsReader().push(sent).flatMap((unit) => filler.fill([unit]));
  return { sent, filled: concatBytes(filled.map(({ bytes }) => bytes)) };
}

describe.each([
  ['', 0],
  [', over a wrap of its times', BEFORE_WRAP_S],
])('[M-13] MPEG-TS without video for a time%s', (_, offsetS) => {
  const { sent, filled } = interrupted(sourceAt(offsetS));

  test('gets pictures at times that go on with the audio', () => {
    const gapMs = (timesMs: number[]) =>
      Math.max(...timesMs.slice(1).map((ms, index) => ms - (timesMs[index] as number)));
    expect(gapMs(videoTimesMs(sent))).toBeGreaterThan(2_900);
    const timesMs = videoTimesMs(filled);
    // A second, and the audio of a PES packet.
    expect(gapMs(timesMs)).toBeLessThan(1_500);
    // The returning video may overlap the last repetition by the audio of a PES packet: the encoder drops
    // these pictures.
    const backMs = timesMs.map((ms, index) => (timesMs[index - 1] ?? 0) - ms);
    expect(Math.max(...backMs)).toBeLessThan(200);
    expect(backMs.filter((ms) => ms > 0).length).toBeLessThanOrEqual(1);
  });

  test('keeps the continuity counters of its video in order', () => {
    let last: number | null = null;
    let gaps = 0;
    for (const packet of videoOf(filled)) {
      if (readPacket(packet).content === PACKET_BYTES) continue;
      const counter = (packet[3] ?? 0) & 0x0f;
      if (last !== null && counter !== ((last + 1) & 0x0f)) gaps += 1;
      last = counter;
    }
    // The packets that were taken out of the source.
    expect(gaps).toBeLessThanOrEqual(1);
  });
});

/**
 * Repetitions after further packets follow the first frames, and the video stops.
 * @param further packets that follow these packets of the video; none: they follow later ones
 */
function repetitionsAfter(further: (video: Uint8Array[]) => Uint8Array[]) {
  const filler = new MpegTsPictureFiller(() => true);
  const repetitions: Uint8Array[] = [];
  let keyFramePackets = 0;
  let packets = 0;
  let isStopped = false;
  for (const unit of new MpegTsReader().push(sourceAt(0))) {
    const video = videoOf(unit.bytes);
    const starts = video.filter((packet) => readPacket(packet).startsPayloadUnit).length;
    if (packets > 0 && starts > 0) keyFramePackets ||= packets;
    const withoutVideo = packetsOf(unit.bytes).filter((one) => readPacket(one).pid !== VIDEO_PID);
    const more: Uint8Array[] = !isStopped && packets > 100 ? further(video) : [];
    const sent = isStopped ? withoutVideo : [unit.bytes, ...more];
    if (!isStopped) packets += video.length;
    isStopped ||= more.length > 0;
    const [, ...filled] = filler.fill([{ ...unit, bytes: concatBytes(sent) }]);
    repetitions.push(...filled.map(({ bytes }) => bytes));
  }
  expect(repetitions.length).toBeGreaterThan(2);
  const repeatedPackets = [...new Set(repetitions.map((bytes) => packetsOf(bytes).length))];
  return { repetitions, repeatedPackets, packets, keyFramePackets };
}

/** One of the packets, many times. */
function copiesOf(packet: Uint8Array | undefined, count: number): Uint8Array[] {
  return packet ? Array.from({ length: count }, () => packet) : [];
}
const startOf = (video: Uint8Array[]) => video.find((one) => readPacket(one).startsPayloadUnit);
const continuationOf = (video: Uint8Array[]) =>
  video.find((one) => !readPacket(one).startsPayloadUnit);

test.each([
  ['4 MB', (video: Uint8Array[]) => copiesOf(continuationOf(video), 25_000)],
  ['2,000 pictures', (video: Uint8Array[]) => copiesOf(startOf(video), 2_001)],
])('[M-13] of a group of more than %s of MPEG-TS the key frame alone is repeated', (_, further) => {
  const { repeatedPackets, keyFramePackets } = repetitionsAfter(further);
  expect(repeatedPackets).toEqual([keyFramePackets]);
});

test('[M-13] a group of 20,000 packets of MPEG-TS is repeated in one copy', () => {
  const slices = spyOn(Uint8Array.prototype, 'slice');
  const { repetitions, packets } = repetitionsAfter((video) => {
    const more = copiesOf(continuationOf(video), 20_000);
    slices.mockClear();
    return more;
  });
  const copies = slices.mock.calls.length;
  slices.mockRestore();
  const kept = packetsOf(repetitions[0] as Uint8Array).length;
  expect(kept).toBeWithin(20_000, 20_001 + packets);
  // Each packet is copied once when it arrives.
  expect(copies).toBeLessThan(20_000 + packets + 2 * repetitions.length);
});

test('[M-13] packets of MPEG-TS without a payload are not repeated', () => {
  const { repeatedPackets, packets } = repetitionsAfter((video) =>
    copiesOf(continuationOf(video), 1_000).map((one) => {
      const packet = Uint8Array.from(one);
      // An adaptation field with a clock reference and stuffing.
      packet.set([0x20, PACKET_BYTES - 5, 0x10], 3);
      return packet;
    }),
  );
  expect(repeatedPackets[0]).toBeLessThanOrEqual(packets);
});

test('[M-13] MPEG-TS with all of its video, or without any, stays as it is', () => {
  const source = sourceAt(0);
  const audio = runFfmpeg(['-t', '4', ...AUDIO_INPUT, '-c:a', 'aac', '-f', 'mpegts']);
  for (const bytes of [source, audio]) {
    const filled = new MpegTsPictureFiller(() => true).fill(new MpegTsReader().push(bytes));
    expect(concatBytes(filled.map((unit) => unit.bytes))).toEqual(Uint8Array.from(bytes));
  }
});
