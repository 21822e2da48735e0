import { expect, test } from 'bun:test';
import {
  AUDIO_INPUT,
  H264_ENCODER,
  runFfmpeg,
  VIDEO_INPUT,
} from '../../../test/support/media/ffmpeg-fixture.ts';
import { FlvReader } from './flv.ts';
import { MatroskaReader } from './matroska.ts';
import { MpegTsReader } from './mpegts.ts';

const READERS = { flv: FlvReader, matroska: MatroskaReader, mpegts: MpegTsReader };
const TS_PACKET_BYTES = 188;
const NULL_PACKET = new Uint8Array(TS_PACKET_BYTES).fill(0xff);
NULL_PACKET.set([0x47, 0x1f, 0xff, 0x10]);

test.each(['flv', 'matroska', 'mpegts'] as const)(
  '[M-6] [M-13] audio after the end of the video of %s counts as received',
  (container) => {
    const source = runFfmpeg([
      ...['-t', '1', ...VIDEO_INPUT, '-t', '4', ...AUDIO_INPUT],
      ...[...H264_ENCODER, '-c:a', 'aac', '-f', container],
      ...(container === 'matroska' ? ['-live', '1', '-cluster_time_limit', '500'] : []),
    ]);
    const reader = new READERS[container]();
    // The last fifth has no video.
    const end = Math.floor((source.length * 0.9) / TS_PACKET_BYTES) * TS_PACKET_BYTES;
    reader.push(source.subarray(0, end));
    const { received } = reader;
    expect([received.has('video'), received.has('audio')]).toEqual([true, true]);
    received.forgetAudio();
    const before = received.count;
    if (container === 'mpegts') reader.push(NULL_PACKET);
    expect([received.has('audio'), received.count]).toEqual([false, before]);
    reader.push(source.subarray(end));
    expect(received.has('audio')).toBe(true);
    expect(received.count).toBeGreaterThan(before);
  },
);
