import { z } from 'zod';
import { SIDE_MIN } from '../ladder.ts';
import type { SourceInfo } from './encoder.ts';
import { PIXELS_MAX } from './ffmpeg-arguments.ts';

/** The `-show_entries` argument of ffprobe. */
export const PROBE_ENTRIES = [
  'stream=codec_type,codec_name,width,height,sample_aspect_ratio,pix_fmt,field_order',
  'r_frame_rate,avg_frame_rate,sample_fmt,sample_rate,channels:stream_side_data=rotation',
].join(',');

const SIDE_MAX = 4096;
const FPS_MAX = 60;
/** For sources without a standard rate, such as most browsers. */
const DEFAULT_FPS: Fraction = [30, 1];

type Fraction = readonly [number, number];

/** Frame rates of cameras, ascending. Slower sources get the first, for a low latency. */
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
// Distinguishes 29.97 from 30.
const SAME_RATE_TOLERANCE = 0.0005;
// A rate counted over few frames is inexact, and two rates this close agree.
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
 * Parses the output of ffprobe.
 * @param json output with `-of json`
 * @throws Error with a message for the sender when there is no video that can be encoded
 */
export function parseSourceInfo(json: string): SourceInfo {
  const { streams = [] } = parseProbe(json);
  const video = streams.find(({ codec_type }) => codec_type === 'video');
  // Garbage can look like a track without a codec.
  if (streams.length === 0 || (video && UNKNOWN_CODECS.has(video.codec_name))) {
    throw new Error('No video was found in the source.');
  }
  if (!video) throw new Error('The source has no video track; a source needs one.');
  // Only the first audio track is encoded.
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
    throw new Error('No video was found in the source.');
  }
}

/** The size after rotation, with square pixels. */
function displaySize(video: Stream): { width: number; height: number } {
  const { width = 0, height = 0, codec_name: codec } = video;
  if (!video.pix_fmt) {
    throw new Error(
      `The video (${codec}) has no key frame or cannot be decoded by this ffmpeg. H.264 always works.`,
    );
  }
  if (width < 1 || height < 1) throw new Error('The video has no size.');
  const [across, down] = parseFraction(video.sample_aspect_ratio, ':') ?? [1, 1];
  const square = { width: Math.round((width * across) / down), height };
  const size = isRotated(video) ? { width: square.height, height: square.width } : square;
  checkSize(size);
  return size;
}

function checkSize({ width, height }: { width: number; height: number }): void {
  const size = `${width}×${height}`;
  if (Math.min(width, height) < SIDE_MIN) {
    throw new Error(`The video is ${size}; each side needs at least ${SIDE_MIN} pixels.`);
  }
  if (Math.max(width, height) > SIDE_MAX || width * height > PIXELS_MAX) {
    throw new Error(
      `The video is ${size}; at most ${SIDE_MAX} pixels on a side and ${PIXELS_MAX} in total (4K) are allowed.`,
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
 * Determines the frame rate from ffprobe's two values. `r_frame_rate` is the finest step of the
 * timestamps: exact for a constant rate, meaningless for a variable one (1000 in WebM).
 * `avg_frame_rate` was counted, or is the value of the container.
 */
function findFrameRate(video: Stream): Fraction {
  const step = plausibleRate(video.r_frame_rate);
  const counted = plausibleRate(video.avg_frame_rate);
  if (step && (!counted || isWithin(step, counted, AGREEING_RATES_TOLERANCE)))
    return standardRate(step);
  if (counted) return standardRate(counted);
  const fastRate = parseFraction(video.avg_frame_rate, '/');
  // A plausible high rate such as 120 is capped; anything higher is a timestamp resolution.
  return fastRate && fractionValue(fastRate) > FPS_MAX && fractionValue(fastRate) <= 240
    ? [FPS_MAX, 1]
    : DEFAULT_FPS;
}

function plausibleRate(text: string | undefined): Fraction | null {
  const rate = parseFraction(text, '/');
  return rate && fractionValue(rate) >= 1 && fractionValue(rate) <= FPS_MAX * 1.001 ? rate : null;
}

/** This rate if it is standard, else the next higher standard rate. */
function standardRate(rate: Fraction): Fraction {
  const exact = STANDARD_RATES.find((standard) => isWithin(standard, rate, SAME_RATE_TOLERANCE));
  const higher = STANDARD_RATES.find(
    (standard) =>
      standard[1] === 1 &&
      fractionValue(standard) >= fractionValue(rate) * (1 - COUNTED_RATE_TOLERANCE),
  );
  return exact ?? higher ?? DEFAULT_FPS;
}

function isWithin(a: Fraction, b: Fraction, tolerance: number): boolean {
  return Math.abs(fractionValue(a) / fractionValue(b) - 1) <= tolerance;
}

function fractionValue([frames, seconds]: Fraction): number {
  return frames / seconds;
}

/** @returns null when the text is no fraction above 0 */
function parseFraction(text: string | undefined, separator: string): Fraction | null {
  const [above, below] = (text ?? '').split(separator).map(Number);
  return above && below && above > 0 && below > 0 ? [above, below] : null;
}
