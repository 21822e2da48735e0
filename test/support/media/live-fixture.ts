import { spawnSync } from 'node:child_process';
import type { Subprocess } from 'bun';
import type { Ingest } from '../../../protocol/ingest.ts';
import { expectJson, type Harness, type HarnessOptions, startService } from '../harness/harness.ts';
import { until } from '../until.ts';
import { DashConformance } from './conformance/dash-conformance.ts';
import { HlsConformance } from './conformance/hls-conformance.ts';
import { type HlsMediaText, readMedia } from './conformance/hls-text.ts';
import { Findings, type Violation } from './conformance/violation.ts';

/** Renditions and sound. */
export const TRACK_IDS = ['v0', 'v1', 'v2', 'a0'];

/** A service with all ways in, and as little to encode as there can be. */
export function startMedia(options: HarnessOptions = {}): Promise<Harness> {
  const media = { rtmpPort: 0, srtPort: 0, preset: 'ultrafast', sourceGraceMs: 1_000 };
  return startService({ clock: 'real', ...options, media: { ...media, ...options.media } });
}

export async function ingestOf({ studio }: Harness, streamId: string): Promise<Ingest> {
  return expectJson(await studio('GET', `/streams/${streamId}/ingest`), 200);
}

export async function statusOf({ url }: Harness, streamId: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/streams/${streamId}/`);
  return (await expectJson<{ status: string }>(response, 200)).status;
}

/** A media playlist as it is now; null when there is none. */
export async function playlistOf(
  { url }: Harness,
  streamId: string,
  track = 'v0',
): Promise<HlsMediaText | null> {
  const response = await fetch(`${url}/media/${streamId}/${track}.m3u8`);
  const text = await response.text();
  if (!response.ok) return null;
  const findings = new Findings();
  const playlist = readMedia(track, text, findings);
  if (findings.violations.length > 0) throw new Error(JSON.stringify(findings.violations));
  return playlist;
}

/** Waits until a stream has so many segments. */
export function segmentsOf(
  service: Harness,
  streamId: string,
  count: number,
  withinMs?: number,
): Promise<HlsMediaText> {
  return until(
    `${count} segments`,
    async () => {
      const playlist = await playlistOf(service, streamId);
      return playlist && playlist.segments.length >= count ? playlist : null;
    },
    withinMs,
  );
}

/** Waits until a stream has ended, and its playlist too. */
export async function endOf(service: Harness, streamId: string): Promise<HlsMediaText> {
  await until('ENDED', async () => (await statusOf(service, streamId)) === 'ENDED');
  return until('EXT-X-ENDLIST', async () => {
    const playlist = await playlistOf(service, streamId);
    return playlist?.isEnded ? playlist : null;
  });
}

/** Init segment and segments of a track, in one file. @param epoch null: the first in the playlist */
export async function fileOf(
  service: Harness,
  streamId: string,
  track: string,
  take: (playlist: HlsMediaText) => HlsMediaText['segments'] = ({ segments }) => segments,
): Promise<Uint8Array> {
  const playlist = await playlistOf(service, streamId, track);
  if (!playlist) throw new Error(`there is no ${track}`);
  const segments = take(playlist);
  const [first] = segments;
  if (!first?.map) throw new Error('there is no segment');
  const uris = [
    first.map,
    ...segments.filter(({ map }) => map === first.map).map(({ uri }) => uri),
  ];
  const pieces = await Promise.all(uris.map((uri) => bytesAt(service, streamId, uri)));
  return new Uint8Array(Buffer.concat(pieces));
}

async function bytesAt(
  { url }: Pick<Harness, 'url'>,
  streamId: string,
  uri: string,
): Promise<Uint8Array> {
  const response = await fetch(`${url}/media/${streamId}/${uri}`);
  if (!response.ok) throw new Error(`${uri} answers ${response.status}`);
  return response.bytes();
}

/** The size of a picture. */
export function sizeIn(file: Uint8Array): string {
  const show = ['-show_entries', 'stream=width,height', '-of', 'csv=p=0:s=x', '-i', 'pipe:0'];
  const { stdout } = spawnSync('ffprobe', ['-loglevel', 'error', ...show], { input: file });
  return stdout.toString().trim();
}

/** The loudest of the sound, dB; 0 is the most there can be. */
export function loudnessIn(file: Uint8Array): number {
  const args = ['-hide_banner', '-i', 'pipe:0', '-af', 'volumedetect', '-f', 'null', '-'];
  const said = spawnSync('ffmpeg', args, { input: file }).stderr.toString();
  return Number(/max_volume: (-?[\d.]+) dB/.exec(said)?.[1] ?? Number.NEGATIVE_INFINITY);
}

const GAPS = /^#EXT-X-GAP\n#EXTINF.*\n(.*)$/gm;

/** Where a stream is checked; its clock is service time. */
export interface ServiceToCheck {
  readonly url: string;
  readonly clock: { nowMs(): number };
}

/** Everything that players would read of a stream, held against HLS, DASH and our own rules. */
export class StreamCheck {
  private readonly files = new Map<string, Uint8Array>();
  private readonly gaps = new Set<string>();
  private readonly hls = new HlsConformance((path) => this.files.get(path) ?? null);
  private readonly dash = new DashConformance((path) => this.files.get(path) ?? null);

  constructor(
    private service: ServiceToCheck,
    private readonly streamId: string,
    private readonly trackIds: readonly string[] = TRACK_IDS,
  ) {}

  /** Reads the stream as it is now; it may be called again later, and at the start after a stop. */
  async violations(service = this.service): Promise<Violation[]> {
    this.service = service;
    const master = await this.text('master.m3u8');
    // Before and after, so that all segments of the manifest are in one of them.
    await this.playlists();
    const manifest = await this.text('manifest.mpd');
    const nowMs = service.clock.nowMs();
    const media = await this.playlists();
    return [...this.hls.check({ master, media }), ...this.dash.check(manifest, nowMs)];
  }

  private async playlists(): Promise<Map<string, string>> {
    const media = await this.ofOneMoment();
    for (const text of media.values()) {
      for (const [, uri = ''] of text.matchAll(GAPS)) await this.gap(uri);
      for (const uri of text.match(/^[^#\n].*$|(?<=URI=")[^"]+/gm) ?? []) {
        if (!this.gaps.has(uri) && !this.files.has(uri)) this.files.set(uri, await this.read(uri));
      }
    }
    return media;
  }

  /** A segment is in all playlists at once, but it may come while they are read. */
  private async ofOneMoment(): Promise<Map<string, string>> {
    for (;;) {
      const media = new Map<string, string>();
      for (const track of this.trackIds)
        media.set(`${track}.m3u8`, await this.text(`${track}.m3u8`));
      const [[first, text] = ['', '']] = media;
      if (first === '' || (await this.text(first)) === text) return media;
    }
  }

  /** What was lost may have been there before. */
  private async gap(uri: string): Promise<void> {
    if (this.gaps.has(uri)) return;
    this.gaps.add(uri);
    const { status } = await fetch(`${this.service.url}/media/${this.streamId}/${uri}`);
    if (status === 404) this.files.delete(uri);
    else this.gaps.delete(uri);
  }

  private async text(uri: string): Promise<string> {
    return new TextDecoder().decode(await this.read(uri));
  }

  private read(uri: string): Promise<Uint8Array> {
    return bytesAt(this.service, this.streamId, uri);
  }
}

export interface Sending {
  readonly size?: string;
  readonly seconds?: number;
}

const PICTURE_BITS = [
  '-c:v',
  'libx264',
  '-preset',
  'ultrafast',
  '-tune',
  'zerolatency',
  '-g',
  '15',
];
const SOUND_BITS = ['-c:a', 'aac', '-b:a', '64k'];

/** ffmpeg as a person runs it: a moving picture and a tone, in real time. */
export function send(
  target: { readonly rtmp: string } | { readonly srt: string },
  { size = '192x108', seconds = 120 }: Sending = {},
): Subprocess<'ignore', 'ignore', 'pipe'> {
  const inputs = [
    ...['-re', '-f', 'lavfi', '-i', `testsrc2=s=${size}:r=15`],
    ...['-re', '-f', 'lavfi', '-i', 'sine=440:r=48000'],
  ];
  const output =
    'rtmp' in target
      ? ['-f', 'flv', '-flvflags', 'no_duration_filesize', target.rtmp]
      : ['-f', 'mpegts', '-pes_payload_size', '0', target.srt];
  return Bun.spawn(
    [
      ...['ffmpeg', '-hide_banner', '-nostdin', '-loglevel', 'error'],
      ...inputs,
      ...['-t', `${seconds}`, ...PICTURE_BITS, '-pix_fmt', 'yuv420p', ...SOUND_BITS],
      ...output,
    ],
    { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
  );
}

/** Where ffmpeg sends a stream by RTMP. */
export function rtmpOf({ rtmp }: Ingest): { readonly rtmp: string } {
  if (!rtmp) throw new Error('RTMP is off');
  return { rtmp: `${rtmp.url}/${rtmp.key}` };
}

/** Where ffmpeg sends a stream by SRT. */
export function srtOf({ srt }: Ingest): { readonly srt: string } {
  if (!srt) throw new Error('SRT is off');
  return { srt: srt.url };
}

/** Ends a program and waits for it. */
export async function quit(
  program: Subprocess,
  signal: 'SIGINT' | 'SIGKILL' = 'SIGINT',
): Promise<void> {
  program.kill(signal);
  await program.exited;
}
