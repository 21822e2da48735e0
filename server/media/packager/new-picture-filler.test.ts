import { expect, test } from 'bun:test';
import {
  AUDIO_INPUT,
  H264_ENCODER,
  runFfmpeg,
  VIDEO_INPUT,
} from '../../../test/support/media/ffmpeg-fixture.ts';
import type { SourceUnit } from '../container/container.ts';
import { FlvReader } from '../container/flv.ts';
import { MatroskaReader } from '../container/matroska.ts';
import { MpegTsReader } from '../container/mpegts.ts';
import { newPictureFiller } from './new-picture-filler.ts';

const READERS = { flv: FlvReader, mpegts: MpegTsReader, matroska: MatroskaReader } as const;

/** Repetitions have no time of the source. */
const repetitionsOf = (units: readonly SourceUnit[]) =>
  units.filter(({ isEntryPoint, sourceMs }) => isEntryPoint && sourceMs === null).length;

test.each(['flv', 'mpegts', 'matroska'] as const)(
  '[M-16] pictures are repeated four times a second at most, however far the audio jumps (%s)',
  (container) => {
    const source = runFfmpeg([
      ...['-t', '1', ...VIDEO_INPUT, '-t', '60', ...AUDIO_INPUT],
      ...[...H264_ENCODER, '-c:a', 'aac', '-f', container],
    ]);
    let nowMs = 0;
    const reader = new READERS[container]();
    const filler = newPictureFiller(container, () => nowMs);
    const half = source.length / 2;
    expect(repetitionsOf(filler.fill(reader.push(source.subarray(0, half))))).toBeLessThan(5);
    nowMs += 1_000;
    expect(repetitionsOf(filler.fill(reader.push(source.subarray(half))))).toBeLessThan(5);
  },
);
