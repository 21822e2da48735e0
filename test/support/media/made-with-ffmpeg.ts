import { spawnSync } from 'node:child_process';

const RUN_MS = 20_000;
const MOST_BYTES = 64 << 20;

/** A small moving picture and a tone, as inputs of ffmpeg. */
export const PICTURE = ['-f', 'lavfi', '-i', 'testsrc2=s=192x108:r=15'];
export const TONE = ['-f', 'lavfi', '-i', 'sine=440:r=48000'];
/** A key frame each second, and frames that are shown in another order than they are sent. */
export const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '15', '-bf', '2'];
/** What an encoder of the service writes: fragments with the time of their source. */
export const FRAGMENTED = [
  ...[
    '-f',
    'mp4',
    '-movflags',
    '+cmaf+frag_discont+frag_keyframe',
    '-avoid_negative_ts',
    'disabled',
  ],
  ...['-flush_packets', '1'],
];

/** What ffmpeg writes to its standard output. @throws Error with what it said */
export function made(args: readonly string[], input?: Uint8Array): Uint8Array {
  return run('ffmpeg', ['-hide_banner', '-loglevel', 'error', ...args, 'pipe:1'], input).stdout;
}

/** A packet as ffprobe sees it. */
export interface ProbedPacket {
  readonly type: string;
  readonly ptsMs: number;
  readonly pts: number;
  readonly isKey: boolean;
}

/** The packets in these bytes, in their order. */
export function probed(bytes: Uint8Array): ProbedPacket[] {
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

/** Decodes all of it. @returns what ffmpeg complained about: nothing, if all is well */
export function complaints(bytes: Uint8Array): string {
  const args = ['-hide_banner', '-loglevel', 'error', '-i', 'pipe:0', '-f', 'null', '-'];
  return run('ffmpeg', args, bytes).stderr;
}

/** How many pictures a decoder makes of it. */
export function picturesIn(bytes: Uint8Array): number {
  const args = ['-loglevel', 'error', '-count_frames', '-select_streams', 'v:0'];
  const show = ['-show_entries', 'stream=nb_read_frames', '-of', 'csv=p=0', '-i', 'pipe:0'];
  const { stdout } = run('ffprobe', [...args, ...show], bytes);
  return Number.parseInt(new TextDecoder().decode(stdout), 10);
}

/** These bytes in chunks of these lengths, again and again. */
export function* inChunks(bytes: Uint8Array, lengths: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = lengths[turn % lengths.length] ?? bytes.length;
    yield bytes.subarray(at, at + length);
    at += length;
  }
}

function run(program: string, args: readonly string[], input?: Uint8Array) {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    input: input ?? '',
    timeout: RUN_MS,
    maxBuffer: MOST_BYTES,
  });
  const said = new TextDecoder().decode(stderr);
  if (error || status !== 0) throw new Error(`${program}: ${error?.message ?? said}`);
  return { stdout: new Uint8Array(stdout), stderr: said };
}
