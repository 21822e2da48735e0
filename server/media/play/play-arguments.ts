/** What ffprobe reports about a file. */
export interface FileInfo {
  /** ffmpeg's codec name; null without video. */
  readonly video: string | null;
  /** ffmpeg's codec name; null without audio. */
  readonly audio: string | null;
  /** Whether the video has rotation metadata, which Matroska from ffmpeg does not keep. */
  readonly isRotated: boolean;
  /** ffmpeg's name of the container. */
  readonly format?: string;
}

// One key frame a second: decoders can only start at a key frame.
const KEY_FRAME_S = 1;
const QUIET_ARGUMENTS = ['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'error'];
// Matroska holds all codecs. One cluster per packet, so that no packet waits for its cluster to fill.
const MATROSKA = ['-f', 'matroska', '-cluster_time_limit', '0', '-flush_packets', '1', 'pipe:1'];
// FLV sends each frame at once; in Matroska a frame waits for the next one, which ends its cluster.
const FLV = ['-f', 'flv', '-flvflags', 'no_duration_filesize', '-flush_packets', '1', 'pipe:1'];
const FAST_X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency'];
const AAC = ['-c:a', 'aac', '-b:a', '96k'];

// Codecs that Matroska holds and every ffmpeg decodes.
const COPIED_VIDEO = ['h264', 'hevc', 'vp8', 'vp9', 'av1', 'mpeg2video', 'mpeg4'];
const COPIED_AUDIO = ['aac', 'mp3', 'opus', 'vorbis', 'ac3', 'eac3', 'flac', 'pcm_s16le'];

/** ffmpeg arguments to encode the test picture, raw Matroska on standard input, as FLV. */
export function testPictureArguments(frameRate: number): string[] {
  return [
    ...QUIET_ARGUMENTS,
    // The first bytes describe the input completely; probing more would only add latency.
    ...['-fflags', 'nobuffer', '-analyzeduration', '0', '-probesize', '32'],
    ...['-f', 'matroska', '-i', 'pipe:0', '-map', '0:v', '-map', '0:a'],
    ...FAST_X264,
    ...['-pix_fmt', 'yuv420p', '-g', String(Math.round(KEY_FRAME_S * frameRate)), '-crf', '22'],
    ...AAC,
    ...FLV,
  ];
}

/** ffmpeg arguments to turn a file into Matroska in real time, copying codecs where possible. */
export function fileArguments(file: string, loop: boolean, info: FileInfo): string[] {
  const { video, audio, isRotated } = info;
  const isCopied = video !== null && COPIED_VIDEO.includes(video) && !isRotated;
  const keyFrames = `expr:gte(t,n_forced*${KEY_FRAME_S})`;
  const encoded = ['-pix_fmt', 'yuv420p', '-crf', '18', '-force_key_frames', keyFrames];
  const hasAudio = audio !== null;
  return [
    ...QUIET_ARGUMENTS,
    ...['-fflags', '+genpts', '-re', ...(loop ? ['-stream_loop', '-1'] : []), '-i', fileUrl(file)],
    // `V` excludes attached pictures such as album covers.
    ...['-map', '0:V:0', ...(hasAudio ? ['-map', '0:a:0'] : []), '-map_metadata', '-1'],
    ...(isCopied ? ['-c:v', 'copy'] : [...FAST_X264, ...encoded]),
    ...(hasAudio ? (COPIED_AUDIO.includes(audio) ? ['-c:a', 'copy'] : AAC) : []),
    ...MATROSKA,
  ];
}

/** ffprobe arguments whose output `parseProbeOutput` reads. */
export function probeArguments(file: string): string[] {
  return [
    ...['-v', 'error', '-of', 'json', '-i', fileUrl(file), '-show_entries'],
    [
      'format=format_name:stream=codec_type,codec_name',
      'stream_disposition=attached_pic:stream_side_data=rotation',
    ].join(':'),
  ];
}

interface ProbedStream {
  readonly codec_type?: string;
  readonly codec_name?: string;
  readonly disposition?: { readonly attached_pic?: number };
  readonly side_data_list?: readonly { readonly rotation?: number }[];
}

/** Parses the JSON that ffprobe prints. */
export function parseProbeOutput(json: string): FileInfo {
  const { streams = [], format } = JSON.parse(json) as {
    streams?: ProbedStream[];
    format?: { format_name?: string };
  };
  const video = streams.find((each) => {
    return each.codec_type === 'video' && each.disposition?.attached_pic !== 1;
  });
  const audio = streams.find((each) => each.codec_type === 'audio');
  return {
    video: video?.codec_name ?? null,
    audio: audio?.codec_name ?? null,
    isRotated: (video?.side_data_list ?? []).some(({ rotation = 0 }) => rotation % 360 !== 0),
    ...(format?.format_name !== undefined && { format: format.format_name }),
  };
}

/** ffmpeg's formats that play other files, with the names of files that are meant to. */
const PLAYLIST_NAMES: Readonly<Record<string, RegExp>> = {
  hls: /\.m3u8?$/i,
  dash: /\.mpd$/i,
  imf: /\.xml$/i,
  concat: /\.(?:ffconcat|txt)$/i,
};

/** Whether a file plays other files although its name says that it is a video. */
export function isDisguisedPlaylist(file: string, { format = '' }: FileInfo): boolean {
  const names = PLAYLIST_NAMES[format];
  return names !== undefined && !names.test(file);
}

// With the prefix, a leading dash is no option and a colon no protocol.
function fileUrl(file: string): string {
  return `file:${file}`;
}
