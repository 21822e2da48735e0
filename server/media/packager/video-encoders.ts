/** How one rendition is to be encoded. */
export interface EncoderRate {
  /** The most it takes over time, bit/s, and how much may come at once beyond that, bits. */
  readonly maxBitsPerS: number;
  readonly bufferBits: number;
}

/** What ffmpeg must be told for one of its video encoders. */
export interface VideoEncoder {
  /** Before the inputs. */
  readonly device: readonly string[];
  /** Filters before it, so that it gets pictures of a kind that it takes; yuv420p comes. */
  readonly filters: readonly string[];
  /** After `-c:v`: preset, low latency, quality under a cap, key frames where we force them. */
  options(preset: string, rate: EncoderRate): string[];
}

/**
 * What a picture's quality is while the cap allows it: x264's default of 23, and about the same on
 * the scales of the others.
 */
const QUALITY = '23';

/** Encoders without a scale of quality get this share of the cap as their usual rate. */
const AVERAGE_RATE_RATIO = 0.75;

// The names of x264's presets mean something to everyone; NVENC counts from p1 (fastest) to p7.
const NVENC_PRESETS: Readonly<Record<string, string>> = {
  ultrafast: 'p1',
  superfast: 'p1',
  veryfast: 'p2',
  faster: 'p3',
  fast: 'p3',
  medium: 'p4',
  slow: 'p5',
  slower: 'p6',
  veryslow: 'p7',
};

const NO_DEVICE = { device: [], filters: [] };

const LIBX264: VideoEncoder = {
  ...NO_DEVICE,
  options: (preset, rate) => [
    ...optionalOption('-preset', preset),
    ...['-tune', 'zerolatency'],
    ...['-crf', QUALITY],
    ...rateCap(rate),
    // Key frames come where we force them and nowhere else.
    ...['-sc_threshold', '0'],
  ],
};

const NVENC: VideoEncoder = {
  ...NO_DEVICE,
  options: (preset, rate) => [
    ...optionalOption('-preset', NVENC_PRESETS[preset] ?? preset),
    ...['-tune', 'll'],
    ...['-rc', 'vbr'],
    ...['-cq', QUALITY],
    ...['-b:v', '0'],
    ...rateCap(rate),
    ...['-zerolatency', '1'],
    ...['-no-scenecut', '1'],
    ...['-forced-idr', '1'],
  ],
};

const QSV: VideoEncoder = {
  device: [],
  filters: ['format=nv12'],
  options: (preset, rate) => [
    ...optionalOption('-preset', preset),
    ...['-async_depth', '1'],
    ...averageRate(rate),
    ...rateCap(rate),
    ...['-forced_idr', '1'],
  ],
};

// It has no presets.
const VAAPI: VideoEncoder = {
  device: ['-vaapi_device', '/dev/dri/renderD128'],
  filters: ['format=nv12', 'hwupload'],
  options: (_preset, rate) => [
    ...['-async_depth', '1'],
    ...['-rc_mode', 'VBR'],
    ...averageRate(rate),
    ...rateCap(rate),
  ],
};

// It has no presets.
const VIDEOTOOLBOX: VideoEncoder = {
  ...NO_DEVICE,
  options: (_preset, rate) => [
    ...['-realtime', '1'],
    ...['-allow_sw', '1'],
    ...averageRate(rate),
    ...rateCap(rate),
  ],
};

// One we do not know gets what all have in common.
const GENERIC_ENCODER: VideoEncoder = {
  ...NO_DEVICE,
  options: (_preset, rate) => [...averageRate(rate), ...rateCap(rate)],
};

const ENCODERS: Readonly<Record<string, VideoEncoder>> = {
  libx264: LIBX264,
  h264_nvenc: NVENC,
  h264_qsv: QSV,
  h264_vaapi: VAAPI,
  h264_videotoolbox: VIDEOTOOLBOX,
};

/** @param name ffmpeg's name of it */
export function videoEncoder(name: string): VideoEncoder {
  return ENCODERS[name] ?? GENERIC_ENCODER;
}

function optionalOption(option: string, value: string): string[] {
  return value === '' ? [] : [option, value];
}

function averageRate({ maxBitsPerS }: EncoderRate): string[] {
  return ['-b:v', `${Math.round(maxBitsPerS * AVERAGE_RATE_RATIO)}`];
}

function rateCap({ maxBitsPerS, bufferBits }: EncoderRate): string[] {
  return ['-maxrate', `${maxBitsPerS}`, '-bufsize', `${bufferBits}`];
}
