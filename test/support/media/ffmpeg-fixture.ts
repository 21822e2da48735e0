import { spawnSync } from 'node:child_process';

const RUN_MS = 20_000;
const OUTPUT_BYTES_MAX = 64 << 20;

/** ffmpeg inputs: a small test video and a tone. */
export const VIDEO_INPUT = ['-f', 'lavfi', '-i', 'testsrc2=s=192x108:r=15'];
export const AUDIO_INPUT = ['-f', 'lavfi', '-i', 'sine=440:r=48000'];
/** H.264 with a key frame each second and B-frames. */
export const H264_ENCODER = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '15', '-bf', '2'];
/** Output arguments of the service's encoders: fragmented MP4 with source times. */
export const FRAGMENTED_MP4_OUTPUT = [
  ...['-f', 'mp4', '-movflags', '+cmaf+frag_discont+frag_keyframe'],
  ...['-avoid_negative_ts', 'disabled', '-flush_packets', '1'],
];

/** Runs ffmpeg and returns its standard output. @throws Error with its log */
export function runFfmpeg(args: readonly string[], input?: Uint8Array): Uint8Array {
  return run('ffmpeg', ['-hide_banner', '-loglevel', 'error', ...args, 'pipe:1'], input).stdout;
}

export interface ProbedPacket {
  readonly type: string;
  readonly ptsMs: number;
  readonly pts: number;
  readonly isKey: boolean;
}

/** Lists the packets of a file, in order. */
export function probePackets(bytes: Uint8Array): ProbedPacket[] {
  const args = ['-loglevel', 'error', '-show_packets', '-of', 'json', '-i', 'pipe:0'];
  const { packets } = JSON.parse(new TextDecoder().decode(run('ffprobe', args, bytes).stdout)) as {
    packets: { codec_type: string; pts: number; pts_time: string; flags: string }[];
  };
  return packets.map(({ codec_type, pts, pts_time, flags }) => ({
    type: codec_type,
    pts,
    ptsMs: Number(pts_time) * 1000,
    isKey: flags.startsWith('K'),
  }));
}

/** Decodes a file. @returns ffmpeg's error output; empty on success */
export function decodeErrors(bytes: Uint8Array): string {
  const args = ['-hide_banner', '-loglevel', 'error', '-i', 'pipe:0', '-f', 'null', '-'];
  return run('ffmpeg', args, bytes).stderr;
}

export function countFrames(bytes: Uint8Array): number {
  const args = ['-loglevel', 'error', '-count_frames', '-select_streams', 'v:0'];
  const show = ['-show_entries', 'stream=nb_read_frames', '-of', 'csv=p=0', '-i', 'pipe:0'];
  const { stdout } = run('ffprobe', [...args, ...show], bytes);
  return Number.parseInt(new TextDecoder().decode(stdout), 10);
}

/** Splits bytes into chunks of the given lengths, cyclically. */
export function* splitIntoChunks(
  bytes: Uint8Array,
  lengths: readonly number[],
): Generator<Uint8Array> {
  for (let offset = 0, index = 0; offset < bytes.length; index++) {
    const length = lengths[index % lengths.length] ?? bytes.length;
    yield bytes.subarray(offset, offset + length);
    offset += length;
  }
}

function run(program: string, args: readonly string[], input?: Uint8Array) {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    input: input ?? '',
    timeout: RUN_MS,
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  const log = new TextDecoder().decode(stderr);
  if (error || status !== 0) throw new Error(`${program}: ${error?.message ?? log}`);
  return { stdout: new Uint8Array(stdout), stderr: log };
}
