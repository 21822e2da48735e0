import { expect, test } from 'bun:test';
import {
  AUDIO_INPUT,
  H264_ENCODER,
  runFfmpeg,
  VIDEO_INPUT,
} from '../../../test/support/media/ffmpeg-fixture.ts';
import { pacedUnits, packageInRealTime } from '../../../test/support/media/paced-source.ts';

const FLV_VIDEO_TAG = 9;

test('[M-13] a picture that stops is repeated while the sound goes on, until it returns', async () => {
  const source = runFfmpeg([
    ...['-t', '10', ...VIDEO_INPUT, '-t', '10', ...AUDIO_INPUT],
    ...[...H264_ENCODER, '-c:a', 'aac', '-f', 'flv'],
  ]);
  const units = pacedUnits('flv', source).filter(
    ({ bytes, atMs }) => bytes[0] !== FLV_VIDEO_TAG || atMs < 3_300 || atMs >= 7_900,
  );
  const { sink, restarts } = await packageInRealTime('flv', units);
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
});
