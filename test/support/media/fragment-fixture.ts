import type { Fragment } from '../../../server/media/fmp4/fragment.ts';
import type { AudioTrack, Track, TrackId, VideoTrack } from '../../../server/media/segment.ts';

// ISO/IEC 14496-12, 8.8.3.1.
const SYNC = 0x0200_0000;
const NOT_SYNC = 0x0101_0000;

/** Options of a synthetic MP4 fragment: valid boxes and times around empty samples. */
export interface FragmentOptions {
  readonly startTicks: number;
  /** Duration of each sample, ticks. */
  readonly durations: readonly number[];
  readonly isSync?: boolean;
  readonly sampleBytes?: number;
}

export const VIDEO: VideoTrack = {
  id: 'v0',
  kind: 'video',
  codec: 'avc1.42c01e',
  timescale: 90_000,
  bandwidth: 400_000,
  width: 64,
  height: 36,
  frameRate: [15, 1],
};
export const AUDIO: AudioTrack = {
  id: 'a0',
  kind: 'audio',
  codec: 'mp4a.40.2',
  timescale: 48_000,
  bandwidth: 100_000,
  sampleRate: 48_000,
  channels: 2,
};
/** Two renditions and audio. */
export const TRACKS: readonly Track[] = [
  VIDEO,
  { ...VIDEO, id: 'v1', width: 32, height: 18, bandwidth: 200_000 },
  AUDIO,
];

export function createFragment(options: FragmentOptions): Fragment {
  const { startTicks, durations, isSync = true, sampleBytes = 40 } = options;
  return {
    bytes: fragmentBytes(startTicks, durations, isSync, sampleBytes),
    startTicks,
    durationTicks: durations.reduce((sum, duration) => sum + duration, 0),
    isSync,
  };
}

/** Options of a synthetic encoder run. */
export interface RunOptions {
  readonly tracks?: readonly Track[];
  readonly fromMs: number;
  readonly seconds: number;
  /** Frames in a video fragment. */
  readonly frames?: number;
  /** Key frame distance, frames. */
  readonly gop?: number;
  /** Frames in an audio fragment. */
  readonly audioFrames?: number;
  /** How much later than the video the audio starts, ms. */
  readonly audioDelayMs?: number;
}

/** Fragments of all tracks of a run, in the order in which an encoder emits them. */
export function createRun(run: RunOptions): [TrackId, Fragment][] {
  const { tracks = TRACKS, fromMs, seconds, frames = 3, gop = 15 } = run;
  const { audioFrames = 4, audioDelayMs = 0 } = run;
  const all = tracks.flatMap((track) => {
    if (track.kind === 'audio') {
      return createTrackFragments(track, fromMs + audioDelayMs, seconds, 1_024, audioFrames, 1);
    }
    const [rate, per] = track.frameRate;
    const frameTicks = (track.timescale * per) / rate;
    return createTrackFragments(track, fromMs, seconds, frameTicks, frames, gop);
  });
  return all
    .sort((a, b) => a.endMs - b.endMs)
    .map(({ id, fragment }): [TrackId, Fragment] => [id, fragment]);
}

/** `ftyp` and `moov` of a track. */
export function createInitSegment(track: Track): Uint8Array {
  const size = track.kind === 'video' ? [track.width, track.height] : [0, 0];
  const handler = track.kind === 'video' ? 'vide' : 'soun';
  const moov = box(
    'moov',
    box('mvhd', u32(0, 0, 0, 1_000, 0), zeros(80)),
    box(
      'trak',
      box('tkhd', u32(3, 0, 0, 1, 0, 0), zeros(52), u32(...size.map((side = 0) => side << 16))),
      box(
        'mdia',
        box('mdhd', u32(0, 0, 0, track.timescale, 0, 0)),
        box('hdlr', u32(0, 0), ascii(handler), zeros(13)),
        box('minf', box('stbl', box('stsd', u32(0, 1), sampleEntry(track)))),
      ),
    ),
    box('mvex', box('trex', u32(0, 1, 1, 0, 0, 0))),
  );
  return concatBytes(box('ftyp', ascii('iso6'), u32(0), ascii('cmfc')), moov);
}

function createTrackFragments(
  track: Track,
  fromMs: number,
  seconds: number,
  sampleTicks: number,
  samples: number,
  gop: number,
) {
  const { id, timescale } = track;
  const fromTicks = Math.round((fromMs * timescale) / 1_000);
  const total = Math.floor((seconds * timescale) / sampleTicks);
  const fragments: { id: TrackId; fragment: Fragment; endMs: number }[] = [];
  for (let frame = 0; frame < total; ) {
    const count = Math.min(samples, total - frame, gop === 1 ? samples : gop - (frame % gop));
    const fragment = createFragment({
      startTicks: fromTicks + frame * sampleTicks,
      durations: Array.from({ length: count }, () => sampleTicks),
      isSync: frame % gop === 0 || gop === 1,
    });
    frame += count;
    fragments.push({ id, fragment, endMs: fromMs + (frame * sampleTicks * 1_000) / timescale });
  }
  return fragments;
}

function fragmentBytes(
  startTicks: number,
  durations: readonly number[],
  isSync: boolean,
  sampleBytes: number,
): Uint8Array {
  const moof = (dataOffset: number) => {
    const samples = durations.flatMap((duration, i) => [
      duration,
      sampleBytes,
      i === 0 && isSync ? SYNC : NOT_SYNC,
    ]);
    return box(
      'moof',
      box('mfhd', u32(0, 1)),
      box(
        'traf',
        box('tfhd', u32(0x02_0000, 1)),
        box('tfdt', u32(0x0100_0000, Math.floor(startTicks / 2 ** 32), startTicks % 2 ** 32)),
        box('trun', u32(0x0701, durations.length, dataOffset), u32(...samples)),
      ),
    );
  };
  const mdat = box('mdat', zeros(sampleBytes * durations.length));
  return concatBytes(moof(moof(0).length + 8), mdat);
}

function sampleEntry(track: Track): Uint8Array {
  if (track.kind === 'video') {
    // avcC: version, then profile, compatibility and level as in the codec string.
    const profile = Uint8Array.from(track.codec.slice(5).match(/../g) ?? [], (hex) =>
      Number.parseInt(hex, 16),
    );
    const sizes = Uint8Array.of(0, track.width, 0, track.height);
    const head = [zeros(6), Uint8Array.of(0, 1), zeros(16), sizes, zeros(50)];
    return box('avc1', ...head, box('avcC', Uint8Array.of(1), profile, zeros(4)));
  }
  const rate = u32(track.sampleRate << 16);
  return box(
    'mp4a',
    ...[zeros(6), Uint8Array.of(0, 1), zeros(8), Uint8Array.of(0, track.channels, 0, 16)],
    ...[zeros(4), rate],
  );
}

function box(type: string, ...content: readonly Uint8Array[]): Uint8Array {
  const body = concatBytes(...content);
  return concatBytes(u32(body.length + 8), ascii(type), body);
}

function concatBytes(...pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces));
}

function u32(...numbers: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(numbers.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [i, number] of numbers.entries()) view.setUint32(i * 4, number);
  return bytes;
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function zeros(length: number): Uint8Array {
  return new Uint8Array(length);
}
