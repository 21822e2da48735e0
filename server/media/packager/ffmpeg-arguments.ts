import { type Rendition, renditionsOf } from '../ladder.ts';
import type { Container } from '../source.ts';
import type { EncoderOptions, EncoderSettings, SourceInfo } from './encoder.ts';
import { type EncoderRate, type VideoEncoder, videoEncoder } from './video-encoders.ts';

/** File descriptor of the first track: 0 to 2 are the input, the progress and the log of ffmpeg. */
export const FIRST_TRACK_FD = 3;

/** Ticks a second of all renditions. A frame of each standard rate is a whole number of ticks. */
const VIDEO_TIMESCALE = 90_000;

/** Sample rate of all served audio, Hz. */
export const AUDIO_SAMPLE_RATE = 48_000;
/** Bit rate of encoded audio. */
export const AUDIO_BITS_PER_S = 128_000;
/** Short, so that audio segments end close to video segments. */
const AUDIO_FRAGMENT_MS_MAX = 100;

/**
 * Largest decoded frame, px: a little more than 4K. ffmpeg enforces it, because the frame size
 * of a source can change at any time, and a frame of 16,384 × 16,384 takes gigabytes.
 */
export const PIXELS_MAX = 4096 * 2304;

/**
 * Duration that ffmpeg analyzes before it encodes, ms. A transport stream is always analyzed for this
 * long, other containers until all tracks are known. The analyzed part is encoded too.
 */
export const ANALYZE_MS = 1_000;
/** Most bytes that ffmpeg analyzes for each analyzed second. */
const ANALYZE_BYTES_PER_S = 2_000_000;

/**
 * Longest gaps in a source that are filled, s: a still screen may send no frames, and a muted
 * microphone no audio. Silence takes 0.4 MB/s.
 */
const VIDEO_GAP_S_MAX = 30;
const AUDIO_GAP_S_MAX = 60;

/** Rate control buffer, s: key frames briefly exceed the cap. */
const RATE_BUFFER_S = 0.5;

// Size of boxes: `moof` without samples, and each sample in its `trun`.
const FRAGMENT_BYTES = 140;
const SAMPLE_BYTES = 16;

// Each frame thread of a decoder delays output. Two threads delay it by one frame and suffice for
// full HD; larger frames need more.
const DECODER_THREADS = 2;
const DECODER_THREADS_LARGE = 4;
const LARGE_PIXELS = 1920 * 1088;

/**
 * Period after which the timestamps of a container wrap to 0, ms. In the last minute before a wrap,
 * ffmpeg uses negative times.
 */
const WRAP_MS: Readonly<Record<Container, number | null>> = {
  mpegts: 2 ** 33 / 90,
  flv: 2 ** 32,
  matroska: null,
};
const WRAP_MARGIN_MS = 60_000;

/**
 * Input arguments for ffprobe and ffmpeg.
 * @param analyzeMs analyzed duration; ffmpeg must analyze as much as ffprobe did, or it misses tracks
 */
export function inputArguments(container: Container, analyzeMs: number): string[] {
  return [
    ...['-f', container],
    // A source must not make ffmpeg open other files or URLs.
    ...['-protocol_whitelist', 'pipe'],
    ...['-analyzeduration', `${analyzeMs * 1000}`],
    ...['-probesize', `${Math.round((analyzeMs * ANALYZE_BYTES_PER_S) / 1000)}`],
    ...['-max_pixels', `${PIXELS_MAX}`],
  ];
}

/**
 * Arguments of an encoder. ffmpeg reads the source from standard input and writes each track as
 * fragmented MP4 to its own pipe: the renditions from `FIRST_TRACK_FD` on, then the audio if the
 * source has any. Times are source times. Progress goes to standard output.
 */
export function encoderArguments(options: EncoderOptions): string[] {
  const { source, settings } = options;
  const renditions = renditionsOf(source, settings.ladder);
  const encoder = videoEncoder(settings.encoder);
  return [
    ...['-hide_banner', '-nostdin', '-nostats'],
    ...['-loglevel', 'warning'],
    ...['-progress', 'pipe:1'],
    ...['-stats_period', '1'],
    ...encoder.device,
    '-copyts',
    ...inputArguments(options.container, source.analyzeMs ?? ANALYZE_MS),
    // The frame rate is known from the probe.
    ...['-fpsprobesize', '0'],
    ...['-threads', `${decoderThreads(source)}`],
    ...timestampOffset(options),
    ...['-i', 'pipe:0'],
    ...['-filter_complex', videoFilters(source, renditions, encoder)],
    ...renditions.flatMap((rendition, index) =>
      renditionOutput(options, rendition, encoder, index),
    ),
    ...(source.hasAudio ? audioOutput(options, renditions.length) : []),
  ];
}

/** Number of frames from one key frame to the next. */
export function framesPerSegment(source: SourceInfo, segmentMs: number): number {
  const [frames, seconds] = source.frameRate;
  return Math.max(1, Math.round((segmentMs * frames) / seconds / 1000));
}

/**
 * Rate limits that keep every segment within the bit rate of its rendition. Leaves room for the boxes
 * and for a rate control buffer that is full at the start of a segment.
 */
export function encoderRate(options: EncoderOptions, maxBitsPerS: number): EncoderRate {
  const { segmentMs, fragmentMs } = options.settings;
  const [frames, seconds] = options.source.frameRate;
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

/** Undoes timestamp wraps before the start of this encoder, which ffmpeg does not know of. */
function timestampOffset({ container, startMs }: EncoderOptions): string[] {
  const wrapMs = WRAP_MS[container];
  if (wrapMs === null) return [];
  const wraps = Math.max(0, Math.floor((startMs + WRAP_MARGIN_MS) / wrapMs));
  return wraps === 0 ? [] : ['-itsoffset', ((wraps * wrapMs) / 1000).toFixed(6)];
}

/**
 * Scales to square pixels in the size of the largest rendition, scales the others from it, and then
 * makes the frame rate constant. ffmpeg has rotated the frames before. The rate comes last, so that
 * all frames that fill a gap share one buffer.
 */
function videoFilters(
  source: SourceInfo,
  renditions: readonly Rendition[],
  encoder: VideoEncoder,
): string {
  const [first] = renditions;
  if (!first) throw new Error('the ladder is empty');
  const sharedFilters = [
    `select=${selectWithoutJumps(VIDEO_GAP_S_MAX)}`,
    ...(source.isInterlaced ? ['yadif=deint=interlaced'] : []),
    ...fitFilters(first.width, first.height),
    'format=yuv420p',
    `split=${renditions.length}${renditions.map(({ id }) => `[${id}s]`).join('')}`,
  ];
  const renditionChains = renditions.map(({ id, width, height }, index) => {
    const scaling = index === 0 ? [] : [`scale=${width}:${height}`, 'setsar=1'];
    const filters = [...scaling, ...encoder.filters, `fps=${source.frameRate.join('/')}`];
    return `[${id}s]${filters.join(',')}[${id}]`;
  });
  return [`[0:v:0]${sharedFilters.join(',')}`, ...renditionChains].join(';');
}

/**
 * A filter expression that drops all frames after a jump of the source's clock. ffmpeg fills gaps in
 * memory, so that a large jump would exhaust it; a transport stream whose clock goes back counts as
 * wrapped, which is a jump of 26 h. The encoder then emits nothing until it is restarted.
 */
function selectWithoutJumps(gapS: number): string {
  return `'isnan(prev_selected_t)+lt(abs(t-prev_selected_t),${gapS})'`;
}

/**
 * Scales frames to a size. When a source changes its aspect ratio, as a rotated phone does, frames are
 * letterboxed. Ratios that differ only by rounding are stretched.
 */
function fitFilters(width: number, height: number): string[] {
  const fits = `lt(abs(dar*${height}/${width}-1),0.05)`;
  const w = `if(${fits},${width},min(${width},max(2,2*round(${height}*dar/2))))`;
  const h = `if(${fits},${height},min(${height},max(2,2*round(${width}/dar/2))))`;
  return [`scale=w='${w}':h='${h}'`, `pad=${width}:${height}:-1:-1`, 'setsar=1'];
}

function renditionOutput(
  options: EncoderOptions,
  rendition: Rendition,
  encoder: VideoEncoder,
  index: number,
): string[] {
  const { source, settings } = options;
  const gopFrames = framesPerSegment(source, settings.segmentMs);
  return [
    ...['-map', `[${rendition.id}]`],
    ...['-c:v', settings.encoder],
    ...encoder.options(settings.preset, encoderRate(options, rendition.maxBitsPerS)),
    ...['-bf', '0'],
    ...['-g', `${gopFrames}`],
    // Counts frames, so that rounded times cannot move a key frame.
    ...['-force_key_frames', `expr:not(mod(n,${gopFrames}))`],
    ...['-video_track_timescale', `${VIDEO_TIMESCALE}`],
    ...mp4Output('+cmaf+frag_discont+frag_keyframe+skip_trailer', settings.fragmentMs, index),
  ];
}

/** Duration of audio fragments, ms; segments are cut at the nearest boundary. */
export function audioFragmentMs({ fragmentMs }: EncoderSettings): number {
  return Math.min(AUDIO_FRAGMENT_MS_MAX, fragmentMs);
}

function audioOutput({ settings }: EncoderOptions, index: number): string[] {
  const select = `aselect=${selectWithoutJumps(AUDIO_GAP_S_MAX)}`;
  return [
    ...['-map', '0:a:0'],
    // Fills gaps with silence and stretches drift, so that audio stays in sync with video.
    ...['-af', `${select},aresample=${AUDIO_SAMPLE_RATE}:async=1000`],
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
