import { type Rendition, renditionsOf } from '../ladder.ts';
import type { Container } from '../source.ts';
import type { EncoderOptions, EncoderSettings, SourceInfo } from './encoder.ts';
import { type EncoderRate, type VideoEncoder, videoEncoder } from './video-encoders.ts';

/** Where ffmpeg writes the first track: 0 to 2 are its input, its progress and its log. */
export const FIRST_TRACK_FD = 3;

/** Ticks a second of all renditions. A frame of each usual rate is a whole number of them. */
export const VIDEO_TIMESCALE = 90_000;

/** Samples a second of all sound that we serve. */
export const AUDIO_SAMPLE_RATE = 48_000;
/** What sound is encoded with. */
export const AUDIO_BITS_PER_S = 128_000;
/** Short, so that segments of sound end near those of the picture. */
const AUDIO_FRAGMENT_MS_MAX = 100;

/**
 * Largest picture that is decoded, px: a little more than 4K. ffmpeg must be told, because a
 * source can change its size whenever it likes, and one of 16,384 × 16,384 takes gigabytes.
 */
export const PIXELS_MAX = 4096 * 2304;

/**
 * How much of a source is looked at before it is encoded, ms. None of it is thrown away. A
 * transport stream is always looked at for so long, others until all their tracks are known.
 */
export const ANALYZE_MS = 1_000;
/** At most so much of it: some 16 Mbit for each second. */
const ANALYZE_BYTES_PER_S = 2_000_000;

/**
 * Longest gaps in a source that are filled, s: a screen that stands still may send no pictures, and
 * a microphone that is off no sound. Silence takes 0.4 MB/s.
 */
const VIDEO_GAP_S_MAX = 30;
const AUDIO_GAP_S_MAX = 60;

/** How far the rate may go above the cap for a moment, s; a key frame is large. */
const RATE_BUFFER_S = 0.5;

// What boxes take: `moof` without samples, and each sample in its `trun`.
const FRAGMENT_BYTES = 140;
const SAMPLE_BYTES = 16;

// Decoders that work on several frames at once give each out later. Two keep that to one frame,
// and suffice for full HD; larger pictures need more.
const DECODER_THREADS = 2;
const DECODER_THREADS_LARGE = 4;
const LARGE_PIXELS = 1920 * 1088;

/**
 * How many ms after a time a container begins again at 0. Within the last minute before that,
 * ffmpeg counts down to 0 from below.
 */
const WRAP_MS: Readonly<Record<Container, number | null>> = {
  mpegts: 2 ** 33 / 90,
  flv: 2 ** 32,
  matroska: null,
};
const WRAP_MARGIN_MS = 60_000;

/**
 * How ffprobe and ffmpeg are told to look at a source.
 * @param analyzeMs how much of it; ffmpeg must see as much as ffprobe did, or it misses tracks
 */
export function inputArguments(container: Container, analyzeMs: number): string[] {
  return [
    ...['-f', container],
    // A source's bytes can name no other file or address.
    ...['-protocol_whitelist', 'pipe'],
    ...['-analyzeduration', `${analyzeMs * 1000}`],
    ...['-probesize', `${Math.round((analyzeMs * ANALYZE_BYTES_PER_S) / 1000)}`],
    ...['-max_pixels', `${PIXELS_MAX}`],
  ];
}

/**
 * What ffmpeg is started with: it reads the source from its standard input, and writes each track
 * as fragmented MP4 to a pipe of its own, the renditions first (`FIRST_TRACK_FD`), then the sound
 * if the source has any. Times are those of the source. Its progress comes on standard output.
 */
export function encoderArguments(plan: EncoderOptions): string[] {
  const { source, settings } = plan;
  const renditions = renditionsOf(source, settings.ladder);
  const encoder = videoEncoder(settings.encoder);
  return [
    ...['-hide_banner', '-nostdin', '-nostats'],
    ...['-loglevel', 'warning'],
    ...['-progress', 'pipe:1'],
    ...['-stats_period', '1'],
    ...encoder.device,
    '-copyts',
    ...inputArguments(plan.container, source.analyzeMs ?? ANALYZE_MS),
    // The frame rate is known.
    ...['-fpsprobesize', '0'],
    ...['-threads', `${decoderThreads(source)}`],
    ...timestampOffset(plan),
    ...['-i', 'pipe:0'],
    ...['-filter_complex', videoFilters(source, renditions, encoder)],
    ...renditions.flatMap((rendition, index) => renditionOutput(plan, rendition, encoder, index)),
    ...(source.hasAudio ? audioOutput(plan, renditions.length) : []),
  ];
}

/** How many frames there are from one key frame to the next. */
export function framesPerSegment(source: SourceInfo, segmentMs: number): number {
  const [frames, seconds] = source.frameRate;
  return Math.max(1, Math.round((segmentMs * frames) / seconds / 1000));
}

/**
 * What an encoder is told so that no segment takes more than its rendition says: what boxes take
 * goes off, and a segment that begins with a full buffer can take that in addition.
 */
export function encoderRate(plan: EncoderOptions, maxBitsPerS: number): EncoderRate {
  const { segmentMs, fragmentMs } = plan.settings;
  const [frames, seconds] = plan.source.frameRate;
  const framesPerS = frames / seconds;
  const boxBytes =
    Math.min(1000 / fragmentMs, framesPerS) * FRAGMENT_BYTES + framesPerS * SAMPLE_BYTES;
  const maxVideoBitsPerS = Math.max(maxBitsPerS / 2, maxBitsPerS - boxBytes * 8);
  const rate = Math.floor(maxVideoBitsPerS / (1 + (RATE_BUFFER_S * 1000) / segmentMs));
  return { maxBitsPerS: rate, bufferBits: Math.floor(rate * RATE_BUFFER_S) };
}

function decoderThreads({ width, height }: SourceInfo): number {
  return width * height > LARGE_PIXELS ? DECODER_THREADS_LARGE : DECODER_THREADS;
}

/** Undoes wraps of the source's clock, which an encoder that begins later cannot know of. */
function timestampOffset({ container, startMs }: EncoderOptions): string[] {
  const wrapMs = WRAP_MS[container];
  if (wrapMs === null) return [];
  const wraps = Math.max(0, Math.floor((startMs + WRAP_MARGIN_MS) / wrapMs));
  return wraps === 0 ? [] : ['-itsoffset', ((wraps * wrapMs) / 1000).toFixed(6)];
}

/**
 * Square pixels in the size of the largest rendition, the others out of that one, and last an even
 * rate. ffmpeg has turned the picture before. Frames that fill a gap are then one and the same
 * picture in memory, however many they are.
 */
function videoFilters(
  source: SourceInfo,
  renditions: readonly Rendition[],
  encoder: VideoEncoder,
): string {
  const [first] = renditions;
  if (!first) throw new Error('a ladder needs a step');
  const steps = [
    `select=${selectWithoutJumps(VIDEO_GAP_S_MAX)}`,
    ...(source.isInterlaced ? ['yadif=deint=interlaced'] : []),
    ...fitFilters(first.width, first.height),
    'format=yuv420p',
    `split=${renditions.length}${renditions.map(({ id }) => `[${id}s]`).join('')}`,
  ];
  const each = renditions.map(({ id, width, height }, index) => {
    const smaller = index === 0 ? [] : [`scale=${width}:${height}`, 'setsar=1'];
    const filters = [...smaller, ...encoder.filters, `fps=${source.frameRate.join('/')}`];
    return `[${id}s]${filters.join(',')}[${id}]`;
  });
  return [`[0:v:0]${steps.join(',')}`, ...each].join(';');
}

/**
 * An expression that takes no frame after a jump of the source's clock. All that is missing before
 * a frame is filled in memory, and a clock that was set would fill all there is; a transport
 * stream's that goes back counts as one that has wrapped, and so as a jump of 26 h. After it, the
 * encoder makes nothing until it is started again.
 */
function selectWithoutJumps(gapS: number): string {
  return `'isnan(prev_selected_t)+lt(abs(t-prev_selected_t),${gapS})'`;
}

/**
 * The picture in this size. A source may change its shape in the middle, as a telephone does that
 * is turned: then it is shown whole, with bars. Shapes that differ by rounding are made to fit.
 */
function fitFilters(width: number, height: number): string[] {
  const fits = `lt(abs(dar*${height}/${width}-1),0.05)`;
  const w = `if(${fits},${width},min(${width},max(2,2*round(${height}*dar/2))))`;
  const h = `if(${fits},${height},min(${height},max(2,2*round(${width}/dar/2))))`;
  return [`scale=w='${w}':h='${h}'`, `pad=${width}:${height}:-1:-1`, 'setsar=1'];
}

function renditionOutput(
  plan: EncoderOptions,
  rendition: Rendition,
  encoder: VideoEncoder,
  index: number,
): string[] {
  const { source, settings } = plan;
  const gopFrames = framesPerSegment(source, settings.segmentMs);
  return [
    ...['-map', `[${rendition.id}]`],
    ...['-c:v', settings.encoder],
    ...encoder.options(settings.preset, encoderRate(plan, rendition.maxBitsPerS)),
    ...['-bf', '0'],
    ...['-g', `${gopFrames}`],
    // The count is of frames, so that rounding of times cannot move a key frame.
    ...['-force_key_frames', `expr:not(mod(n,${gopFrames}))`],
    ...['-video_track_timescale', `${VIDEO_TIMESCALE}`],
    ...mp4Output('+cmaf+frag_discont+frag_keyframe+skip_trailer', settings.fragmentMs, index),
  ];
}

/** How long fragments of sound are, ms: segments are cut at the nearest. */
export function audioFragmentMs({ fragmentMs }: EncoderSettings): number {
  return Math.min(AUDIO_FRAGMENT_MS_MAX, fragmentMs);
}

function audioOutput({ settings }: EncoderOptions, index: number): string[] {
  return [
    ...['-map', '0:a:0'],
    // Gaps become silence, and drift is stretched away, so that sound keeps to the picture.
    ...[
      '-af',
      `aselect=${selectWithoutJumps(AUDIO_GAP_S_MAX)},aresample=${AUDIO_SAMPLE_RATE}:async=1000`,
    ],
    ...['-ac', '2'],
    ...['-c:a', 'aac'],
    ...['-b:a', `${AUDIO_BITS_PER_S}`],
    ...mp4Output('+cmaf+frag_discont+skip_trailer', audioFragmentMs(settings), index),
  ];
}

function mp4Output(flags: string, fragmentMs: number, index: number): string[] {
  return [
    ...['-map_metadata', '-1'],
    ...['-f', 'mp4'],
    ...['-movflags', flags],
    ...['-frag_duration', `${fragmentMs * 1000}`],
    ...['-avoid_negative_ts', 'disabled'],
    ...['-flush_packets', '1'],
    `pipe:${FIRST_TRACK_FD + index}`,
  ];
}
