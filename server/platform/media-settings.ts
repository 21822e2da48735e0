import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { PLAYBACK_LADDER } from '../../protocol/limits.ts';
import {
  parseDirectory,
  parseInteger,
  parseOneOf,
  parsePortOrOff,
  parseProgram,
  parseWord,
  type Setting,
} from './setting-values.ts';

/** A rendition of the encoding ladder (SPEC M-10). */
export interface RenditionSetting {
  /** Divides the width and the height of the source. */
  readonly divisor: number;
  /** Largest bit rate, in MB/s. */
  readonly megabytesPerS: number;
}

/** Smallest bit rate of a rendition, in bit/s: one key frame a second needs this much. */
export const RENDITION_BITS_PER_S_MIN = 120_000;
/** Each rendition costs one more encode of every frame. */
const LADDER_STEPS_MAX = 6;
// Beyond these limits, viewers see no difference.
const DIVISOR_MAX = 16;
const MEGABYTES_PER_S_MAX = 25;

/** How this service receives, encodes and serves video (SPEC M). */
export interface MediaConfig {
  /** Directory of the segments, absolute. */
  readonly directory: string;
  /** How far viewers can seek back in a live stream, and how long its video stays after its end. */
  readonly dvrMs: number;
  /** Maximum size of all segments on disk. */
  readonly spaceBytes: number;
  readonly latency: 'normal' | 'low';
  readonly segmentMs: number;
  /** ffmpeg's name of the video encoder. */
  readonly encoder: string;
  readonly preset: string;
  readonly ladder: readonly RenditionSetting[];
  /** Name or path of the program; ffprobe must be beside it. */
  readonly ffmpeg: string;
  /** TCP port for RTMP; 0: any free port; null: off. */
  readonly rtmpPort: number | null;
  /** UDP port for SRT; 0: any free port; null: off. */
  readonly srtPort: number | null;
  /** How long a source may be unavailable without ending its stream. */
  readonly sourceGraceMs: number;
  /** Most sources of one account at the same time. */
  readonly accountSourcesMax: number;
}

export interface MediaSettingValues {
  /** null: `media` in the data directory. */
  readonly media: string | null;
  readonly mediaDvr: number;
  readonly mediaSpace: number;
  readonly mediaLatency: MediaConfig['latency'];
  readonly mediaSegment: number;
  readonly mediaEncoder: string;
  readonly mediaPreset: string;
  readonly mediaLadder: MediaConfig['ladder'];
  readonly ffmpeg: string;
  readonly rtmpPort: number | null;
  readonly srtPort: number | null;
  readonly sourceGrace: number;
  /** null: by the number of processors. */
  readonly accountSources: number | null;
}

// Leaves an encoder of another account half a processor, which suffices for 1280×720.
const ACCOUNT_SOURCES_PER_PROCESSOR = 2;

export const MEDIA_SETTINGS: {
  readonly [Key in keyof MediaSettingValues]: Setting<MediaSettingValues[Key]>;
} = {
  media: {
    placeholder: 'directory',
    help: 'directory of the video segments',
    default: '',
    defaultMeaning: '`media` in the data directory',
    parse: (text) => (text === '' ? null : parseDirectory(text)),
  },
  mediaDvr: {
    placeholder: 'seconds',
    help: 'how far viewers can seek back, and how long video stays after the end of a stream',
    default: '7200',
    parse: parseInteger(60, 604_800),
  },
  mediaSpace: {
    placeholder: 'megabytes',
    help: 'maximum size of all video on disk; the oldest segments of the account with the most are deleted first',
    default: '20000',
    parse: parseInteger(50, 100_000_000),
  },
  mediaLatency: {
    placeholder: 'mode',
    help: 'normal (about 4 s behind the camera), or low (about 2 s, with more requests for each viewer)',
    default: 'normal',
    parse: parseOneOf(['normal', 'low']),
  },
  mediaSegment: {
    placeholder: 'milliseconds',
    help: 'duration of a video segment',
    default: '1000',
    parse: parseInteger(500, 10_000),
  },
  mediaEncoder: {
    placeholder: 'name',
    help: 'video encoder of ffmpeg: libx264, or a hardware encoder such as h264_nvenc, h264_qsv or h264_vaapi',
    default: 'libx264',
    parse: parseWord,
  },
  mediaPreset: {
    placeholder: 'name',
    help: 'preset of the video encoder',
    default: 'veryfast',
    parse: parseWord,
  },
  mediaLadder: {
    placeholder: 'list',
    help: 'renditions, each as divisor:megabytes per second',
    default: PLAYBACK_LADDER.map((step) => `${step.divisor}:${step.megabytesPerS}`).join(','),
    parse: parseLadder,
  },
  ffmpeg: {
    placeholder: 'program',
    help: 'name or path of ffmpeg; ffprobe must be beside it',
    default: 'ffmpeg',
    parse: parseProgram,
  },
  rtmpPort: {
    placeholder: 'number',
    help: 'TCP port for RTMP; 0 picks a free port; off disables RTMP',
    default: '1935',
    parse: parsePortOrOff,
  },
  srtPort: {
    placeholder: 'number',
    help: 'UDP port for SRT; 0 picks a free port; off disables SRT',
    default: '10080',
    parse: parsePortOrOff,
  },
  sourceGrace: {
    placeholder: 'seconds',
    help: 'how long the source of a stream may be disconnected before the stream ends',
    default: '30',
    parse: parseInteger(1, 3_600),
  },
  accountSources: {
    placeholder: 'number',
    help: 'maximum number of streams of an account that have a video source at the same time',
    default: '',
    defaultMeaning: 'twice the number of processors',
    parse: (text) => (text === '' ? null : parseInteger(1, 10_000)(text)),
  },
};

/**
 * Separates the media settings from the others.
 * @param data the data directory
 * @returns the media config, and the other values
 */
export function splitMediaConfig<Values extends MediaSettingValues>(values: Values, data: string) {
  const { media, mediaDvr, mediaSpace, mediaLatency, mediaSegment, ...rest } = values;
  const { mediaEncoder, mediaPreset, mediaLadder, sourceGrace, accountSources, ...more } = rest;
  const { ffmpeg, rtmpPort, srtPort, ...config } = more;
  const mediaConfig: MediaConfig = {
    directory: media ?? join(data, 'media'),
    dvrMs: mediaDvr * 1_000,
    spaceBytes: mediaSpace * 1_000_000,
    latency: mediaLatency,
    segmentMs: mediaSegment,
    encoder: mediaEncoder,
    preset: mediaPreset,
    ladder: mediaLadder,
    ffmpeg,
    rtmpPort,
    srtPort,
    sourceGraceMs: sourceGrace * 1_000,
    accountSourcesMax: accountSources ?? ACCOUNT_SOURCES_PER_PROCESSOR * availableParallelism(),
  };
  return { config, media: mediaConfig };
}

/**
 * Parses a ladder such as `1:2.4,2:1.2,3:0.8`: divisor and maximum MB/s of each rendition.
 * @throws Error with a sentence for the operator
 */
export function parseLadder(text: string): RenditionSetting[] {
  const steps = text.split(',').map((part) => parseStep(part.trim()));
  if (steps.length > LADDER_STEPS_MAX) {
    throw new Error(`It must have at most ${LADDER_STEPS_MAX} steps.`);
  }
  steps.sort((a, b) => a.divisor - b.divisor);
  for (const [index, { divisor }] of steps.entries()) {
    if (divisor === steps[index + 1]?.divisor) {
      throw new Error(`It must have the divisor ${divisor} only once.`);
    }
  }
  return steps;
}

function parseStep(text: string): RenditionSetting {
  const match = /^(\d{1,2}(?:\.\d{1,3})?):(\d{1,2}(?:\.\d{1,3})?)$/.exec(text);
  if (!match) {
    throw new Error('It must be steps such as 1:2.4,2:1.2 (divisor:megabytes per second).');
  }
  const divisor = Number(match[1]);
  const megabytesPerS = Number(match[2]);
  if (divisor < 1 || divisor > DIVISOR_MAX) {
    throw new Error(`It must have divisors from 1 to ${DIVISOR_MAX}.`);
  }
  if (megabytesPerS * 8_000_000 < RENDITION_BITS_PER_S_MIN || megabytesPerS > MEGABYTES_PER_S_MAX) {
    const minimum = RENDITION_BITS_PER_S_MIN / 8_000_000;
    throw new Error(`It must have rates from ${minimum} to ${MEGABYTES_PER_S_MAX} MB/s.`);
  }
  return { divisor, megabytesPerS };
}
