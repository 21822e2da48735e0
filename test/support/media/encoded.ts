import type { Fragment, InitSegment } from '../../../server/media/fmp4/fragment.ts';
import { DEFAULT_LADDER } from '../../../server/media/ladder.ts';
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
import { inChunks, made } from './made-with-ffmpeg.ts';

export const ENCODER_SETTINGS: EncoderSettings = {
  ffmpeg: 'ffmpeg',
  encoder: 'libx264',
  preset: 'ultrafast',
  ladder: DEFAULT_LADDER,
  segmentMs: 1000,
  fragmentMs: 500,
};

/** What came out of an encoder. */
export interface Encoded {
  readonly info: SourceInfo;
  readonly tracks: readonly Track[];
  readonly inits: ReadonlyMap<TrackId, InitSegment>;
  readonly fragments: ReadonlyMap<TrackId, readonly Fragment[]>;
  readonly progress: readonly EncoderProgress[];
  readonly exit: EncoderExit;
}

/** Looks at a source with the real probe. */
export async function looked(source: Uint8Array, container: Container): Promise<SourceInfo> {
  const probe = startProbe('ffprobe')(container);
  // As much as a source sends in the time that it is looked at, and then some.
  for (const chunk of inChunks(source, [4_000, 100, 1_316])) probe.write(chunk);
  probe.write(new Uint8Array(0));
  return await probe.result;
}

/** All that the real encoder makes of a source, which comes as fast as it takes it. */
export async function encoded(
  source: Uint8Array,
  container: Container,
  change: Partial<EncoderOptions> = {},
): Promise<Encoded> {
  const info = await looked(source, container);
  const fragments = new Map<TrackId, Fragment[]>();
  const progress: EncoderProgress[] = [];
  const begun: { tracks: readonly Track[]; inits: ReadonlyMap<TrackId, InitSegment> }[] = [];
  const plan = { container, source: info, settings: ENCODER_SETTINGS, startMs: 0, ...change };
  const encoder = startEncoder(plan, {
    onInits: (tracks, inits) => begun.push({ tracks, inits }),
    onFragment: (track, fragment) => {
      if (begun.length === 0) throw new Error('a fragment came before the inits');
      fragments.set(track, [...(fragments.get(track) ?? []), fragment]);
    },
    onProgress: (report) => progress.push(report),
  });
  for (const chunk of inChunks(source, [8_000, 64_000, 188])) {
    if (!encoder.write(chunk)) await encoder.drained();
  }
  encoder.finish();
  const exit = await encoder.exited;
  const [first] = begun;
  if (!first || begun.length > 1) {
    throw new Error(`it began ${begun.length} times: ${exit.lastLines.join('\n')}`);
  }
  return { info, ...first, fragments, progress, exit };
}

/** A track's fragments in one file. @throws Error without any */
export function fileOf(encoded: Encoded, track: TrackId): Uint8Array {
  const init = encoded.inits.get(track);
  if (!init) throw new Error(`there is no ${track}`);
  const fragments = encoded.fragments.get(track) ?? [];
  return Buffer.concat([init.bytes, ...fragments.map(({ bytes }) => bytes)]);
}

/** Where a track begins, in s of source time. */
export function startS(encoded: Encoded, track: TrackId): number {
  const startTicks = encoded.fragments.get(track)?.[0]?.startTicks ?? Number.NaN;
  return startTicks / (encoded.inits.get(track)?.timescale ?? Number.NaN);
}

/** When pictures turn from dark to bright, in s of source time. They must have an even rate. */
export function flashesS(encoded: Encoded, track: TrackId): number[] {
  const [frames, seconds] = encoded.info.frameRate;
  const grey = ['-vf', 'scale=1:1:flags=area,format=gray', '-fps_mode', 'passthrough'];
  const all = made(['-i', 'pipe:0', ...grey, '-f', 'rawvideo'], fileOf(encoded, track));
  return risesAt([...all].map((brightness) => brightness > 128)).map(
    (frame) => startS(encoded, track) + (frame * seconds) / frames,
  );
}

/** When sound sets in after silence, in s of source time. */
export function beepsS(encoded: Encoded, track: TrackId): number[] {
  const all = made(['-i', 'pipe:0', '-f', 's16le', '-ac', '1'], fileOf(encoded, track));
  const samples = new Int16Array(all.slice().buffer);
  // Loud within the next 10 ms: a tone goes through zero all the time.
  const steps = Array.from({ length: Math.floor(samples.length / 480) }, (_, step) =>
    samples.subarray(step * 480, (step + 1) * 480).some((sample) => Math.abs(sample) > 3_000),
  );
  return risesAt(steps).map((step) => startS(encoded, track) + step / 100);
}

function risesAt(states: readonly boolean[]): number[] {
  return states.flatMap((state, index) => (state && states[index - 1] === false ? [index] : []));
}
