import { PLAYBACK_LADDER } from '../../../protocol/limits.ts';
import type { Fragment, InitSegment } from '../../../server/media/fmp4/fragment.ts';
import type {
  EncoderExit,
  EncoderOptions,
  EncoderProgress,
  EncoderSettings,
  SourceInfo,
} from '../../../server/media/packager/encoder.ts';
import { startEncoder } from '../../../server/media/packager/encoder-ffmpeg.ts';
import { startProbe } from '../../../server/media/packager/probe.ts';
import type { Track, TrackId } from '../../../server/media/segment.ts';
import type { Container } from '../../../server/media/source.ts';
import { runFfmpeg, splitIntoChunks } from './ffmpeg-fixture.ts';

export const ENCODER_SETTINGS: EncoderSettings = {
  ffmpeg: 'ffmpeg',
  encoder: 'libx264',
  preset: 'ultrafast',
  ladder: PLAYBACK_LADDER,
  segmentMs: 1000,
  fragmentMs: 500,
};

export interface EncoderResult {
  readonly info: SourceInfo;
  readonly tracks: readonly Track[];
  readonly inits: ReadonlyMap<TrackId, InitSegment>;
  readonly fragments: ReadonlyMap<TrackId, readonly Fragment[]>;
  readonly progress: readonly EncoderProgress[];
  readonly exit: EncoderExit;
}

export async function probeSource(source: Uint8Array, container: Container): Promise<SourceInfo> {
  const probe = startProbe('ffprobe')(container);
  // The whole source, which is more than the probe needs.
  for (const chunk of splitIntoChunks(source, [4_000, 100, 1_316])) probe.write(chunk);
  probe.write(new Uint8Array(0));
  return await probe.result;
}

/** Encodes a source with ffmpeg, as fast as possible. */
export async function encodeSource(
  source: Uint8Array,
  container: Container,
  overrides: Partial<EncoderOptions> = {},
): Promise<EncoderResult> {
  const info = await probeSource(source, container);
  const fragments = new Map<TrackId, Fragment[]>();
  const progress: EncoderProgress[] = [];
  const starts: { tracks: readonly Track[]; inits: ReadonlyMap<TrackId, InitSegment> }[] = [];
  const options = { container, source: info, settings: ENCODER_SETTINGS, startMs: 0, ...overrides };
  const encoder = startEncoder(options, {
    onInits: (tracks, inits) => starts.push({ tracks, inits }),
    onFragment: (track, fragment) => {
      if (starts.length === 0) throw new Error('a fragment came before the init segments');
      fragments.set(track, [...(fragments.get(track) ?? []), fragment]);
    },
    onProgress: (report) => progress.push(report),
    onAudioMissing: () => {},
  });
  for (const chunk of splitIntoChunks(source, [8_000, 64_000, 188])) {
    if (!encoder.write(chunk)) await encoder.drained();
  }
  encoder.finish();
  const exit = await encoder.exited;
  const [first] = starts;
  if (!first || starts.length > 1) {
    throw new Error(
      `the encoder emitted init segments ${starts.length} times: ${exit.lastLines.join('\n')}`,
    );
  }
  return { info, ...first, fragments, progress, exit };
}

/** Concatenates a track into one MP4 file. @throws Error for an unknown track */
export function trackFile(encoded: EncoderResult, track: TrackId): Uint8Array {
  const init = encoded.inits.get(track);
  if (!init) throw new Error(`unknown track ${track}`);
  const fragments = encoded.fragments.get(track) ?? [];
  return Buffer.concat([init.bytes, ...fragments.map(({ bytes }) => bytes)]);
}

/** Source time at which a track starts, s. */
export function trackStartS(encoded: EncoderResult, track: TrackId): number {
  const startTicks = encoded.fragments.get(track)?.[0]?.startTicks ?? Number.NaN;
  return startTicks / (encoded.inits.get(track)?.timescale ?? Number.NaN);
}

/** Source times at which the video turns from dark to bright, s. Needs a constant frame rate. */
export function flashesS(encoded: EncoderResult, track: TrackId): number[] {
  const [frames, seconds] = encoded.info.frameRate;
  const gray = ['-vf', 'scale=1:1:flags=area,format=gray', '-fps_mode', 'passthrough'];
  const all = runFfmpeg(['-i', 'pipe:0', ...gray, '-f', 'rawvideo'], trackFile(encoded, track));
  return risesAt([...all].map((brightness) => brightness > 128)).map(
    (frame) => trackStartS(encoded, track) + (frame * seconds) / frames,
  );
}

/** Source times at which audio starts after silence, s. */
export function beepsS(encoded: EncoderResult, track: TrackId): number[] {
  const all = runFfmpeg(['-i', 'pipe:0', '-f', 's16le', '-ac', '1'], trackFile(encoded, track));
  const samples = new Int16Array(all.slice().buffer);
  // In steps of 10 ms (480 samples), because a tone passes through zero all the time.
  const steps = Array.from({ length: Math.floor(samples.length / 480) }, (_, step) =>
    samples.subarray(step * 480, (step + 1) * 480).some((sample) => Math.abs(sample) > 3_000),
  );
  return risesAt(steps).map((step) => trackStartS(encoded, track) + step / 100);
}

function risesAt(states: readonly boolean[]): number[] {
  return states.flatMap((state, index) => (state && states[index - 1] === false ? [index] : []));
}
