import { z } from 'zod';
import { SIDE_MIN } from '../ladder.ts';
import type { SourceInfo } from './encoder.ts';
import { PIXELS_MAX } from './ffmpeg-arguments.ts';

/** What ffprobe is asked for. */
export const PROBE_ENTRIES = [
  'stream=codec_type,codec_name,width,height,sample_aspect_ratio,pix_fmt,field_order',
  'r_frame_rate,avg_frame_rate,sample_fmt,sample_rate,channels:stream_side_data=rotation',
].join(',');

const SIDE_MAX = 4096;
const FPS_MAX = 60;
/** What a source gets that does not say, as with most browsers. */
const DEFAULT_FPS: Fraction = [30, 1];

type Fraction = readonly [number, number];

/** Rates that cameras have, least first. Slower sources get the first, for a low latency. */
const STANDARD_RATES: readonly Fraction[] = [
  [10, 1],
  [12, 1],
  [15, 1],
  [20, 1],
  [24_000, 1_001],
  [24, 1],
  [25, 1],
  [30_000, 1_001],
  [30, 1],
  [48, 1],
  [50, 1],
  [60_000, 1_001],
  [60, 1],
];
// A thirtieth of a frame a second tells 29.97 from 30.
const SAME_RATE_TOLERANCE = 0.0005;
// What is counted over few frames is off by a little, and two counts that are this near agree.
const COUNTED_RATE_TOLERANCE = 0.03;
const AGREEING_RATES_TOLERANCE = 0.1;

const streamSchema = z.object({
  codec_type: z.string().optional(),
  codec_name: z.string().optional(),
  width: z.number().optional(),
  height: z.number().optional(),
  sample_aspect_ratio: z.string().optional(),
  pix_fmt: z.string().optional(),
  field_order: z.string().optional(),
  r_frame_rate: z.string().optional(),
  avg_frame_rate: z.string().optional(),
  sample_fmt: z.string().optional(),
  sample_rate: z.string().optional(),
  channels: z.number().optional(),
  side_data_list: z.array(z.object({ rotation: z.number().optional() })).optional(),
});
const probeSchema = z.object({ streams: z.array(streamSchema).optional() });

const UNKNOWN_CODECS: ReadonlySet<string | undefined> = new Set([undefined, 'unknown', 'none']);

type Stream = z.infer<typeof streamSchema>;

/**
 * What ffprobe found, as far as an encoder must know.
 * @param json its output with `-of json`
 * @throws Error with a line for the sender when there is no picture that can be encoded
 */
export function parseSourceInfo(json: string): SourceInfo {
  const { streams = [] } = parseProbe(json);
  const video = streams.find(({ codec_type }) => codec_type === 'video');
  // Garbage can look like a track, of no codec.
  if (video && UNKNOWN_CODECS.has(video.codec_name)) {
    throw new Error('no video was found in what was sent');
  }
  if (!video) {
    throw new Error(
      streams.length === 0
        ? 'no video was found in what was sent'
        : 'there is no picture in it: a source needs a video track',
    );
  }
  // Only the first is ever encoded.
  const audio = streams.find(({ codec_type }) => codec_type === 'audio');
  return {
    ...displaySize(video),
    frameRate: findFrameRate(video),
    hasAudio: audio !== undefined && isDecodable(audio),
    ...(isInterlaced(video) ? { isInterlaced: true } : {}),
  };
}

function parseProbe(json: string): z.infer<typeof probeSchema> {
  try {
    return probeSchema.parse(JSON.parse(json));
  } catch {
    throw new Error('no video was found in what was sent');
  }
}

/** Turned, and with square pixels. */
function displaySize(video: Stream): { width: number; height: number } {
  const { width = 0, height = 0, codec_name: codec } = video;
  if (!video.pix_fmt) {
    throw new Error(
      `its picture (${codec}) cannot be decoded by this ffmpeg, or never begins; H.264 works everywhere`,
    );
  }
  if (width < 1 || height < 1) throw new Error('its picture has no size');
  const [across, down] = parseFraction(video.sample_aspect_ratio, ':') ?? [1, 1];
  const square = { width: Math.round((width * across) / down), height };
  const size = isRotated(video) ? { width: square.height, height: square.width } : square;
  checkSize(size);
  return size;
}

function checkSize({ width, height }: { width: number; height: number }): void {
  const size = `${width}×${height}`;
  if (Math.min(width, height) < SIDE_MIN) {
    throw new Error(`its picture is ${size}; the least is ${SIDE_MIN} pixels on each side`);
  }
  if (Math.max(width, height) > SIDE_MAX || width * height > PIXELS_MAX) {
    throw new Error(
      `its picture is ${size}; the most is ${SIDE_MAX} pixels on a side and ${PIXELS_MAX} in all (4K)`,
    );
  }
}

function isRotated({ side_data_list: sideData = [] }: Stream): boolean {
  const rotation = sideData.find((data) => data.rotation !== undefined)?.rotation ?? 0;
  return Math.round(Math.abs(rotation) / 90) % 2 === 1;
}

function isInterlaced({ field_order: order }: Stream): boolean {
  return order === 'tt' || order === 'bb' || order === 'tb' || order === 'bt';
}

function isDecodable(audio: Stream): boolean {
  return Boolean(audio.sample_fmt) && Number(audio.sample_rate) > 0 && (audio.channels ?? 0) > 0;
}

/**
 * ffprobe says twice how many frames there are in a second: `r_frame_rate` is the finest step of
 * their times, exact for an even rate and senseless for an uneven one (1000 in WebM);
 * `avg_frame_rate` is what was counted, or what the container says.
 */
function findFrameRate(video: Stream): Fraction {
  const step = plausibleRate(video.r_frame_rate);
  const counted = plausibleRate(video.avg_frame_rate);
  if (step && (!counted || isWithin(step, counted, AGREEING_RATES_TOLERANCE)))
    return standardRate(step);
  if (counted) return standardRate(counted);
  const fastRate = parseFraction(video.avg_frame_rate, '/');
  // Such as 120 frames a second, which a camera has, and no clock.
  return fastRate && fractionValue(fastRate) > FPS_MAX && fractionValue(fastRate) <= 240
    ? [FPS_MAX, 1]
    : DEFAULT_FPS;
}

function plausibleRate(text: string | undefined): Fraction | null {
  const rate = parseFraction(text, '/');
  return rate && fractionValue(rate) >= 1 && fractionValue(rate) <= FPS_MAX * 1.001 ? rate : null;
}

/** This rate, if cameras have it; else the next higher one that they have. */
function standardRate(rate: Fraction): Fraction {
  const exact = STANDARD_RATES.find((known) => isWithin(known, rate, SAME_RATE_TOLERANCE));
  const higher = STANDARD_RATES.find(
    (known) =>
      known[1] === 1 && fractionValue(known) >= fractionValue(rate) * (1 - COUNTED_RATE_TOLERANCE),
  );
  return exact ?? higher ?? DEFAULT_FPS;
}

function isWithin(a: Fraction, b: Fraction, tolerance: number): boolean {
  return Math.abs(fractionValue(a) / fractionValue(b) - 1) <= tolerance;
}

function fractionValue([frames, seconds]: Fraction): number {
  return frames / seconds;
}

/** @returns null when it is none, or not above 0 */
function parseFraction(text: string | undefined, separator: string): Fraction | null {
  const [above, below] = (text ?? '').split(separator).map(Number);
  return above && below && above > 0 && below > 0 ? [above, below] : null;
}
