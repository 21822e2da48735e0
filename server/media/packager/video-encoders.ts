/** The rate limits of a rendition. */
export interface EncoderRate {
  /** Peak bit rate, and the size of the rate control buffer, bits. */
  readonly maxBitsPerS: number;
  readonly bufferBits: number;
}

/** The ffmpeg arguments of a video encoder. */
export interface VideoEncoder {
  /** Arguments before the inputs. */
  readonly device: readonly string[];
  /** Filters that convert yuv420p to a format that the encoder accepts. */
  readonly filters: readonly string[];
  /** Options after `-c:v`: preset, low latency, capped quality, key frames only where forced. */
  options(preset: string, rate: EncoderRate): string[];
}

/** Target quality below the cap: x264's default of 23, and about the same for other encoders. */
const QUALITY = '23';

/** Encoders without a quality scale get this share of the cap as their average rate. */
const AVERAGE_RATE_RATIO = 0.75;

// Maps the well-known preset names of x264 to those of NVENC, from p1 (fastest) to p7.
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
    // Key frames only where they are forced.
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

// This encoder has no presets.
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

// This encoder has no presets.
const VIDEOTOOLBOX: VideoEncoder = {
  ...NO_DEVICE,
  options: (_preset, rate) => [
    ...['-realtime', '1'],
    ...['-allow_sw', '1'],
    ...averageRate(rate),
    ...rateCap(rate),
  ],
};

// Unknown encoders get the common options.
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

/** @param name ffmpeg's name of the encoder */
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
