/** What is known of a file before it is played. */
export interface FileFacts {
  /** ffmpeg's name of the codec; null: there is none. */
  readonly video: string | null;
  readonly audio: string | null;
  /** It is to be shown turned, which only some containers can say. */
  readonly isTurned: boolean;
}

export interface PictureEncoding {
  readonly frameRate: number;
}

// A key frame each second: players and encoders that come later begin at one.
const KEY_FRAME_S = 1;
const QUIET = ['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'error'];
// Holds all codecs. One cluster a packet, so that nothing waits for the rest of a cluster.
const MATROSKA = ['-f', 'matroska', '-cluster_time_limit', '0', '-flush_packets', '1', 'pipe:1'];
// Every frame goes out as it is made; in Matroska it waits for the next one, which ends its cluster.
const FLV = ['-f', 'flv', '-flvflags', 'no_duration_filesize', '-flush_packets', '1', 'pipe:1'];
const FAST_X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency'];
const AAC = ['-c:a', 'aac', '-b:a', '96k'];

// Those that go into Matroska as they are, and that every ffmpeg decodes.
const COPIED_VIDEO = ['h264', 'hevc', 'vp8', 'vp9', 'av1', 'mpeg2video', 'mpeg4'];
const COPIED_AUDIO = ['aac', 'mp3', 'opus', 'vorbis', 'ac3', 'eac3', 'flac', 'pcm_s16le'];

/** Arguments for ffmpeg to make FLV of the test picture, which comes as raw Matroska on its input. */
export function pictureArguments({ frameRate }: PictureEncoding): string[] {
  return [
    ...QUIET,
    // Everything about the input is in its first bytes: no need to wait for more.
    ...['-fflags', 'nobuffer', '-analyzeduration', '0', '-probesize', '32'],
    ...['-f', 'matroska', '-i', 'pipe:0', '-map', '0:v', '-map', '0:a'],
    ...FAST_X264,
    ...['-pix_fmt', 'yuv420p', '-g', String(Math.round(KEY_FRAME_S * frameRate)), '-crf', '22'],
    ...AAC,
    ...FLV,
  ];
}

/** Arguments for ffmpeg to make Matroska of a file in real time, copied where that is possible. */
export function fileArguments(file: string, loop: boolean, facts: FileFacts): string[] {
  const { video, audio, isTurned } = facts;
  const isCopied = video !== null && COPIED_VIDEO.includes(video) && !isTurned;
  const isHeard = audio !== null;
  return [
    ...QUIET,
    ...['-fflags', '+genpts', '-re', ...(loop ? ['-stream_loop', '-1'] : []), '-i', fileUrl(file)],
    // `V`: no cover of an album.
    ...['-map', '0:V:0', ...(isHeard ? ['-map', '0:a:0'] : []), '-map_metadata', '-1'],
    ...(isCopied
      ? ['-c:v', 'copy']
      : [...FAST_X264, '-pix_fmt', 'yuv420p', '-crf', '18', '-force_key_frames', everySecond()]),
    ...(isHeard ? (COPIED_AUDIO.includes(audio) ? ['-c:a', 'copy'] : AAC) : []),
    ...MATROSKA,
  ];
}

/** Arguments for ffprobe to tell what `factsOf` reads. */
export function probeArguments(file: string): string[] {
  return [
    ...['-v', 'error', '-of', 'json', '-i', fileUrl(file), '-show_entries'],
    'stream=codec_type,codec_name:stream_disposition=attached_pic:stream_side_data=rotation',
  ];
}

interface ProbedStream {
  readonly codec_type?: string;
  readonly codec_name?: string;
  readonly disposition?: { readonly attached_pic?: number };
  readonly side_data_list?: readonly { readonly rotation?: number }[];
}

/** What ffprobe said about a file. */
export function factsOf(json: string): FileFacts {
  const { streams = [] } = JSON.parse(json) as { streams?: ProbedStream[] };
  const video = streams.find((each) => {
    return each.codec_type === 'video' && each.disposition?.attached_pic !== 1;
  });
  const audio = streams.find((each) => each.codec_type === 'audio');
  return {
    video: video?.codec_name ?? null,
    audio: audio?.codec_name ?? null,
    isTurned: (video?.side_data_list ?? []).some(({ rotation = 0 }) => rotation % 360 !== 0),
  };
}

// So that a name that begins with a dash is no option, and one with a colon no protocol.
function fileUrl(file: string): string {
  return `file:${file}`;
}

function everySecond(): string {
  return `expr:gte(t,n_forced*${KEY_FRAME_S})`;
}
