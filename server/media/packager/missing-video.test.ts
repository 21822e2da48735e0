import { expect, test } from 'bun:test';
import {
  AUDIO_INPUT,
  H264_ENCODER,
  runFfmpeg,
  VIDEO_INPUT,
} from '../../../test/support/media/ffmpeg-fixture.ts';
import { pacedUnits, packageInRealTime } from '../../../test/support/media/paced-source.ts';
import { readElementHeader } from '../container/ebml.ts';
import { MATROSKA_ID } from '../container/matroska-ids.ts';
import { PACKET_BYTES, readPacket } from '../container/mpegts-packet.ts';

const FLV_VIDEO_TAG = 9;
/** Clusters of unknown size, as browsers write them. */
const LIVE_MATROSKA = ['-live', '1', '-cluster_time_limit', '1000'];
/** PID of the first stream in ffmpeg's MPEG-TS. */
const TS_VIDEO_PID = 0x100;

/** The first track of ffmpeg's Matroska, as a block has it. */
const MATROSKA_VIDEO = 0x81;
const END = { id: 0, headerBytes: 1, contentBytes: 0 };

/** The parts of a unit that are not video. */
const WITHOUT_VIDEO = {
  flv: (bytes: Uint8Array) => (bytes[0] === FLV_VIDEO_TAG ? new Uint8Array(0) : bytes),
  mpegts: (bytes: Uint8Array) => {
    const starts = Array.from({ length: bytes.length / PACKET_BYTES }, (_, n) => n * PACKET_BYTES);
    const packets = starts.map((start) => bytes.subarray(start, start + PACKET_BYTES));
    return Buffer.concat(packets.filter((packet) => readPacket(packet).pid !== TS_VIDEO_PID));
  },
  matroska: (bytes: Uint8Array) => {
    const parts: Uint8Array[] = [];
    for (let start = 0; start < bytes.length; ) {
      const { id, headerBytes, contentBytes } = readElementHeader(bytes, start) ?? END;
      const content = start + headerBytes;
      const end = id === MATROSKA_ID.cluster ? content : content + (contentBytes ?? 0);
      const isBlock = id === MATROSKA_ID.simpleBlock;
      if (!isBlock || bytes[content] !== MATROSKA_VIDEO) parts.push(bytes.subarray(start, end));
      start = end;
    }
    return Buffer.concat(parts);
  },
} as const;

test.each(['flv', 'mpegts', 'matroska'] as const)(
  '[M-13] a picture that stops is repeated while the sound goes on, until it returns (%s)',
  async (container) => {
    const source = runFfmpeg([
      ...['-t', '10', ...VIDEO_INPUT, '-t', '10', ...AUDIO_INPUT],
      ...[...H264_ENCODER, '-c:a', 'aac', '-f', container],
      ...(container === 'matroska' ? LIVE_MATROSKA : []),
    ]);
    const units = pacedUnits(container, source).map((unit) => {
      const isMissing = unit.atMs >= 3_300 && unit.atMs < 7_900;
      return isMissing ? { ...unit, bytes: WITHOUT_VIDEO[container](unit.bytes) } : unit;
    });
    const { sink, restarts } = await packageInRealTime(container, units);
    expect([sink.failures, sink.epochs.length, restarts]).toEqual([[], 1, 0]);
    const { segments } = sink;
    expect(segments.length).toBeGreaterThanOrEqual(9);
    for (const [index, { seq, startMs, durationMs }] of segments.entries()) {
      const next = segments[index + 1];
      if (next) expect(Math.abs(next.startMs - startMs - durationMs)).toBeLessThan(1);
      // Players stay 4 s behind.
      const endMs = startMs + durationMs;
      expect((sink.addedMs.get(seq) ?? Number.NaN) - endMs).toBeLessThan(3_000);
    }
    // The picture stands still while it is missing, and moves before and after.
    expect(segments.map(({ seq }) => sink.hasMotion(seq)).slice(1, 9)).toEqual([
      ...[true, true, true],
      ...[false, false, false],
      ...[true, true],
    ]);
  },
);
