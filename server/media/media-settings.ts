import { join } from 'node:path';
import { PLAYBACK_LADDER } from '../../protocol/limits.ts';
import {
  directory,
  integer,
  oneOf,
  portOrOff,
  program,
  type Setting,
  word,
} from '../platform/setting-values.ts';
import { parseLadder } from './ladder.ts';
import type { LadderStep } from './packager/encoder.ts';

/** Video that this service takes, encodes and serves itself (SPEC M). */
export interface MediaConfig {
  /** Where segments are kept, absolute. */
  readonly directory: string;
  /** How far back viewers can go in a live stream, and how long it stays after its end. */
  readonly dvrMs: number;
  /** The most that all segments may take on disk. */
  readonly spaceBytes: number;
  readonly latency: 'normal' | 'low';
  readonly segmentMs: number;
  /** ffmpeg's name of a video encoder, and a preset of it; empty: the encoder's own. */
  readonly encoder: string;
  readonly preset: string;
  readonly ladder: readonly LadderStep[];
  /** The program; ffprobe is looked for beside it. */
  readonly ffmpeg: string;
  /** TCP port for RTMP; 0: any that is free; null: none. */
  readonly rtmpPort: number | null;
  /** UDP port for SRT; 0: any that is free; null: none. */
  readonly srtPort: number | null;
  /** How long a source may be unavailable without ending its stream. */
  readonly sourceGraceMs: number;
}

/** What is set of it, one value for each flag. */
export interface MediaSettingValues {
  /** null: in the data directory. */
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
}

/** The settings of video. */
export const MEDIA_SETTINGS: {
  readonly [Key in keyof MediaSettingValues]: Setting<MediaSettingValues[Key]>;
} = {
  media: {
    value: 'directory',
    help: 'where video segments are kept',
    default: '',
    defaultMeans: '`media` in the data directory',
    parse: (text) => (text === '' ? null : directory(text)),
  },
  mediaDvr: {
    value: 'seconds',
    help: 'how far back viewers can go, and how long video stays after the end of a stream',
    default: '7200',
    parse: integer(60, 604_800),
  },
  mediaSpace: {
    value: 'megabytes',
    help: 'the most that video may take on disk; the oldest goes first',
    default: '20000',
    parse: integer(50, 100_000_000),
  },
  mediaLatency: {
    value: 'mode',
    help: 'normal (about 4 s behind the camera), or low (about 2 s, with more requests for each viewer)',
    default: 'normal',
    parse: oneOf(['normal', 'low']),
  },
  mediaSegment: {
    value: 'milliseconds',
    help: 'how long a video segment is',
    default: '1000',
    parse: integer(500, 10_000),
  },
  mediaEncoder: {
    value: 'name',
    help: "ffmpeg's video encoder: libx264, or one of the hardware's such as h264_nvenc, h264_qsv, h264_vaapi",
    default: 'libx264',
    parse: word,
  },
  mediaPreset: {
    value: 'name',
    help: 'preset of the video encoder',
    default: 'veryfast',
    parse: word,
  },
  mediaLadder: {
    value: 'list',
    help: 'renditions, as divisor:megabytes a second',
    default: PLAYBACK_LADDER.map((step) => `${step.divisor}:${step.megabytesPerS}`).join(','),
    parse: parseLadder,
  },
  ffmpeg: {
    value: 'program',
    help: 'ffmpeg, by name or path; ffprobe must be beside it',
    default: 'ffmpeg',
    parse: program,
  },
  rtmpPort: {
    value: 'number',
    help: 'TCP port for video by RTMP; 0 takes any that is free; off',
    default: '1935',
    parse: portOrOff,
  },
  srtPort: {
    value: 'number',
    help: 'UDP port for video by SRT; 0 takes any that is free; off',
    default: '10080',
    parse: portOrOff,
  },
  sourceGrace: {
    value: 'seconds',
    help: 'how long the source of a stream may be unavailable before the stream ends',
    default: '30',
    parse: integer(1, 3_600),
  },
};

/** Takes what is set of video out of all values. @param data the data directory */
export function mediaConfigFrom<Values extends MediaSettingValues>(values: Values, data: string) {
  const { media, mediaDvr, mediaSpace, mediaLatency, mediaSegment, ...rest } = values;
  const { mediaEncoder, mediaPreset, mediaLadder, sourceGrace, ...more } = rest;
  const { ffmpeg, rtmpPort, srtPort, ...config } = more;
  const own: MediaConfig = {
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
  };
  return { config, media: own };
}
