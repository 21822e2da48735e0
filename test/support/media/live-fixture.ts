import { spawnSync } from 'node:child_process';
import type { Subprocess } from 'bun';
import type { Ingest } from '../../../protocol/ingest.ts';
import { expectJson, type Harness, type HarnessOptions, startService } from '../harness/harness.ts';
import { until } from '../until.ts';
import { DashConformance } from './conformance/dash-conformance.ts';
import { HlsConformance } from './conformance/hls-conformance.ts';
import { type HlsMediaPlaylist, parseMediaPlaylist } from './conformance/hls-parser.ts';
import { Findings, type Violation } from './conformance/violation.ts';

/** Three renditions and audio. */
export const TRACK_IDS = ['v0', 'v1', 'v2', 'a0'];

/** Starts a service with all ingest protocols and the fastest encoder preset. */
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

/** Reads a media playlist; null when it does not exist. */
export async function playlistOf(
  { url }: Harness,
  streamId: string,
  track = 'v0',
): Promise<HlsMediaPlaylist | null> {
  const response = await fetch(`${url}/media/${streamId}/${track}.m3u8`);
  const text = await response.text();
  if (!response.ok) return null;
  const findings = new Findings();
  const playlist = parseMediaPlaylist(track, text, findings);
  if (findings.violations.length > 0) throw new Error(JSON.stringify(findings.violations));
  return playlist;
}

/** Waits until a stream has at least `count` segments. */
export function segmentsOf(
  service: Harness,
  streamId: string,
  count: number,
  withinMs?: number,
): Promise<HlsMediaPlaylist> {
  return until(
    `${count} segments`,
    async () => {
      const playlist = await playlistOf(service, streamId);
      return playlist && playlist.segments.length >= count ? playlist : null;
    },
    withinMs,
  );
}

/** Waits until a stream and its playlist have ended. */
export async function endOf(service: Harness, streamId: string): Promise<HlsMediaPlaylist> {
  await until('ENDED', async () => (await statusOf(service, streamId)) === 'ENDED');
  return until('EXT-X-ENDLIST', async () => {
    const playlist = await playlistOf(service, streamId);
    return playlist?.isEnded ? playlist : null;
  });
}

/** Downloads a track as one file: the selected segments, up to the end of the first one's epoch. */
export async function fileOf(
  service: Harness,
  streamId: string,
  track: string,
  select: (playlist: HlsMediaPlaylist) => HlsMediaPlaylist['segments'] = ({ segments }) => segments,
): Promise<Uint8Array> {
  const playlist = await playlistOf(service, streamId, track);
  if (!playlist) throw new Error(`no playlist of ${track}`);
  const segments = select(playlist);
  const [first] = segments;
  if (!first?.map) throw new Error('no segment');
  const inEpoch = segments.filter(({ map }) => map === first.map);
  const uris = [first.map, ...inEpoch.map(({ uri }) => uri)];
  const pieces = await Promise.all(uris.map((uri) => bytesAt(service, streamId, uri)));
  return new Uint8Array(Buffer.concat(pieces));
}

async function bytesAt({ url }: { url: string }, streamId: string, uri: string) {
  const response = await fetch(`${url}/media/${streamId}/${uri}`);
  if (!response.ok) throw new Error(`${uri} returned status ${response.status}`);
  return response.bytes();
}

/** Frame size of a file, such as `192x108`. */
export function sizeIn(file: Uint8Array): string {
  const show = ['-show_entries', 'stream=width,height', '-of', 'csv=p=0:s=x', '-i', 'pipe:0'];
  const { stdout } = spawnSync('ffprobe', ['-loglevel', 'error', ...show], { input: file });
  return stdout.toString().trim();
}

/** Peak level of the audio, dBFS. */
export function loudnessIn(file: Uint8Array): number {
  const args = ['-hide_banner', '-i', 'pipe:0', '-af', 'volumedetect', '-f', 'null', '-'];
  const report = spawnSync('ffmpeg', args, { input: file }).stderr.toString();
  return Number(/max_volume: (-?[\d.]+) dB/.exec(report)?.[1] ?? Number.NEGATIVE_INFINITY);
}

const GAP_URIS = /^#EXT-X-GAP\n#EXTINF.*\n(.*)$/gm;

/** The service of a checked stream; its clock is service time. */
export interface ServiceToCheck {
  readonly url: string;
  readonly clock: { nowMs(): number };
}

/** Reads everything that players would read of a stream and checks HLS, DASH and timeline rules. */
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

  /** Reads and checks the stream. May be called repeatedly, also after a restart of the service. */
  async violations(service = this.service): Promise<Violation[]> {
    this.service = service;
    const master = await this.text('master.m3u8');
    // Read playlists before and after the manifest, so that they contain all of its segments.
    await this.playlists();
    const manifest = await this.text('manifest.mpd');
    const nowMs = service.clock.nowMs();
    const media = await this.playlists();
    return [...this.hls.check({ master, media }), ...this.dash.check(manifest, nowMs)];
  }

  private async playlists(): Promise<Map<string, string>> {
    const media = await this.consistentPlaylists();
    for (const text of media.values()) {
      for (const [, uri = ''] of text.matchAll(GAP_URIS)) await this.gap(uri);
      for (const uri of text.match(/^[^#\n].*$|(?<=URI=")[^"]+/gm) ?? []) {
        if (!this.gaps.has(uri) && !this.files.has(uri)) this.files.set(uri, await this.read(uri));
      }
    }
    return media;
  }

  /** Reads all playlists at one state: retries when a segment was added meanwhile. */
  private async consistentPlaylists(): Promise<Map<string, string>> {
    for (;;) {
      const media = new Map<string, string>();
      for (const track of this.trackIds)
        media.set(`${track}.m3u8`, await this.text(`${track}.m3u8`));
      const [[first, text] = ['', '']] = media;
      if (first === '' || (await this.text(first)) === text) return media;
    }
  }

  /** Records a gap and forgets the file of its segment, unless the service still serves it. */
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

export interface SendOptions {
  readonly size?: string;
  readonly seconds?: number;
}

const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-g', '15'];
const AUDIO_ENCODING = ['-c:a', 'aac', '-b:a', '64k'];

/** Sends a test pattern and a tone with ffmpeg in real time. */
export function send(
  target: { readonly rtmp: string } | { readonly srt: string },
  { size = '192x108', seconds = 120 }: SendOptions = {},
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
      ...['-t', `${seconds}`, ...X264, '-pix_fmt', 'yuv420p', ...AUDIO_ENCODING],
      ...output,
    ],
    { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
  );
}

/** RTMP target of a stream for `send`. */
export function rtmpOf({ rtmp }: Ingest): { readonly rtmp: string } {
  if (!rtmp) throw new Error('RTMP is off');
  return { rtmp: `${rtmp.url}/${rtmp.key}` };
}

/** SRT target of a stream for `send`. */
export function srtOf({ srt }: Ingest): { readonly srt: string } {
  if (!srt) throw new Error('SRT is off');
  return { srt: srt.url };
}

/** Sends a signal to a process and waits for its exit. */
export async function quit(
  program: Subprocess,
  signal: 'SIGINT' | 'SIGKILL' = 'SIGINT',
): Promise<void> {
  program.kill(signal);
  await program.exited;
}
