import { expect, test } from 'bun:test';
import {
  AUDIO_INPUT,
  H264_ENCODER,
  runFfmpeg,
  VIDEO_INPUT,
} from '../../../test/support/media/ffmpeg-fixture.ts';
import { pacedUnits, packageInRealTime } from '../../../test/support/media/paced-source.ts';
import type { Container } from '../source.ts';

const LATE_S = 2.5;

/** A source of 8 s whose audio or video starts late. */
function createSource(container: Container, late: 'audio' | 'video'): Uint8Array {
  const offset = (kind: typeof late) => (kind === late ? ['-itsoffset', `${LATE_S}`] : []);
  return runFfmpeg([
    ...[...offset('video'), '-t', `${late === 'video' ? 8 - LATE_S : 8}`, ...VIDEO_INPUT],
    ...[...offset('audio'), '-t', `${late === 'audio' ? 8 - LATE_S : 8}`, ...AUDIO_INPUT],
    ...[...H264_ENCODER, '-c:a', 'aac', '-muxdelay', '0', '-f', container],
  ]);
}

const FLV_AUDIO_TAG = 8;

/** Units of an FLV source whose microphone sends nothing before its first frame, not even a header. */
function withLateAudioHeader(units: ReturnType<typeof pacedUnits>) {
  const isAudio = ({ bytes }: { bytes: Uint8Array }) => bytes[0] === FLV_AUDIO_TAG;
  const header = units.find((unit) => unit.isHeader && isAudio(unit));
  const others = units.filter((unit) => unit !== header);
  const index = others.findIndex(isAudio);
  const atMs = others[index]?.atMs ?? 0;
  return others.toSpliced(index, 0, ...(header ? [{ ...header, atMs }] : []));
}

test.each(['flv', 'mpegts'] as const)(
  '[M-13] sound of %s that starts after the probe is taken up, and the playlist continues',
  async (container) => {
    const units = pacedUnits(container, createSource(container, 'audio'));
    const { sink, restarts } = await packageInRealTime(
      container,
      container === 'flv' ? withLateAudioHeader(units) : units,
    );
    expect(sink.failures).toEqual([]);
    const { segments, epochs } = sink;
    expect(segments.map(({ seq }) => sink.hasSound(seq))).toContain(true);
    expect(sink.hasSound(segments.at(-2)?.seq ?? -1)).toBe(true);
    expect(sink.hasSound(segments[0]?.seq ?? -1)).toBe(false);
    expect([epochs.length, restarts]).toEqual([2, 0]);
    // No picture is lost at the discontinuity, and no time is shown twice.
    for (const [index, { startMs, durationMs }] of segments.entries()) {
      const next = segments[index + 1];
      if (!next) continue;
      expect(next.startMs - startMs - durationMs).toBeGreaterThanOrEqual(-1);
      expect(next.startMs - startMs - durationMs).toBeLessThan(100);
    }
  },
);

test('[M-13] video that starts after the audio of its source is taken up', async () => {
  const units = pacedUnits('flv', createSource('flv', 'video'));
  const { sink } = await packageInRealTime('flv', units);
  expect(sink.failures).toEqual([]);
  expect(sink.segments.length).toBeGreaterThanOrEqual(4);
  expect(sink.segments.map(({ seq }) => sink.hasSound(seq))).not.toContain(false);
});

const RETURN = { fromMs: 4_000, toMs: 66_000, endS: 80 };

test(
  '[M-13] sound that returns after a minute is taken up',
  async () => {
    const length = ['-t', `${RETURN.endS}`];
    const source = runFfmpeg([
      ...[...length, ...VIDEO_INPUT, ...length, ...AUDIO_INPUT],
      ...[...H264_ENCODER, '-c:a', 'aac', '-f', 'flv'],
    ]);
    const units = pacedUnits('flv', source).filter(
      ({ bytes, atMs, isHeader }) =>
        isHeader || bytes[0] !== FLV_AUDIO_TAG || atMs < RETURN.fromMs || atMs > RETURN.toMs,
    );
    const { sink, restarts } = await packageInRealTime('flv', units);
    expect([sink.failures, restarts]).toEqual([[], 0]);
    const { segments, epochs } = sink;
    const soundAt = (index: number) => sink.hasSound(segments.at(index)?.seq ?? -1);
    expect([soundAt(0), soundAt(30), soundAt(-2)]).toEqual([true, false, true]);
    expect(epochs).toHaveLength(2);
  },
  2 * RETURN.endS * 1_000,
);
