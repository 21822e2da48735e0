import type { Fragment } from '../../../server/media/fmp4/fragment.ts';
import type { AudioTrack, Track, TrackId, VideoTrack } from '../../../server/media/segment.ts';

// ISO/IEC 14496-12, 8.8.3.1.
const SYNC = 0x0200_0000;
const NOT_SYNC = 0x0101_0000;

/** Fragmented MP4 without a picture in it: right in everything that has to do with time. */
export interface MadeFragment {
  readonly startTicks: number;
  /** Of each sample. */
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
export const SOUND: AudioTrack = {
  id: 'a0',
  kind: 'audio',
  codec: 'mp4a.40.2',
  timescale: 48_000,
  bandwidth: 100_000,
  sampleRate: 48_000,
  channels: 2,
};
/** Two renditions and sound. */
export const TRACKS: readonly Track[] = [
  VIDEO,
  { ...VIDEO, id: 'v1', width: 32, height: 18, bandwidth: 200_000 },
  SOUND,
];

export function madeFragment(made: MadeFragment): Fragment {
  const { startTicks, durations, isSync = true, sampleBytes = 40 } = made;
  return {
    bytes: fragmentBytes(startTicks, durations, isSync, sampleBytes),
    startTicks,
    durationTicks: durations.reduce((sum, duration) => sum + duration, 0),
    isSync,
  };
}

/** What a fragment is made of, for a run of an encoder. */
export interface MadeRun {
  readonly tracks?: readonly Track[];
  readonly fromMs: number;
  readonly seconds: number;
  /** Frames in a fragment of a rendition. */
  readonly frames?: number;
  /** Frames from one key frame to the next. */
  readonly gop?: number;
  /** And in a fragment of sound. */
  readonly soundFrames?: number;
  /** How much later than the picture the sound begins. */
  readonly soundLateMs?: number;
}

/** Fragments of all tracks of a run, in the order in which an encoder gives them out. */
export function madeRun(run: MadeRun): [TrackId, Fragment][] {
  const { tracks = TRACKS, fromMs, seconds, frames = 3, gop = 15 } = run;
  const { soundFrames = 4, soundLateMs = 0 } = run;
  const all = tracks.flatMap((track) => {
    if (track.kind === 'audio') {
      return madeTrack(track, fromMs + soundLateMs, seconds, 1_024, soundFrames, 1);
    }
    const [rate, per] = track.frameRate;
    return madeTrack(track, fromMs, seconds, (track.timescale * per) / rate, frames, gop);
  });
  return all
    .sort((a, b) => a.endMs - b.endMs)
    .map(({ id, fragment }): [TrackId, Fragment] => [id, fragment]);
}

/** `ftyp` and `moov` of a track. */
export function madeInit(track: Track): Uint8Array {
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
  return joined(box('ftyp', ascii('iso6'), u32(0), ascii('cmfc')), moov);
}

function madeTrack(
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
  const made: { id: TrackId; fragment: Fragment; endMs: number }[] = [];
  for (let at = 0; at < total; ) {
    const count = Math.min(samples, total - at, gop === 1 ? samples : gop - (at % gop));
    const fragment = madeFragment({
      startTicks: fromTicks + at * sampleTicks,
      durations: Array.from({ length: count }, () => sampleTicks),
      isSync: at % gop === 0 || gop === 1,
    });
    at += count;
    made.push({ id, fragment, endMs: fromMs + (at * sampleTicks * 1_000) / timescale });
  }
  return made;
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
  return joined(moof(moof(0).length + 8), mdat);
}

function sampleEntry(track: Track): Uint8Array {
  if (track.kind === 'video') {
    // avcC: version, profile, compatibility, level, as the codec's name has them.
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
  const body = joined(...content);
  return joined(u32(body.length + 8), ascii(type), body);
}

function joined(...pieces: readonly Uint8Array[]): Uint8Array {
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
