import type { MediaPlaylistName } from '../playlist/playlist-contents.ts';
import type { TrackId } from '../segment.ts';

/** The file that a path below a stream names. */
export type MediaFile =
  | { readonly kind: 'master' }
  | { readonly kind: 'manifest' }
  | MediaPlaylistName
  | { readonly kind: 'init'; readonly track: TrackId; readonly epoch: number }
  | {
      readonly kind: 'segment';
      readonly track: TrackId;
      readonly epoch: number;
      readonly seq: number;
    }
  | {
      readonly kind: 'part';
      readonly track: TrackId;
      readonly epoch: number;
      readonly seq: number;
      readonly index: number;
    };

// Numbers have one spelling, so that each file has one URL. 15 digits are exact in a double.
const TRACK = /^[va](?:0|[1-9]\d?)$/;
const PLAYLIST = /^([va](?:0|[1-9]\d?))(?:-([1-9]\d{0,14}))?(-recording)?\.m3u8$/;
const INIT = /^init-(0|[1-9]\d{0,14})\.mp4$/;
const SEGMENT = /^(0|[1-9]\d{0,14})-(0|[1-9]\d{0,14})(?:\.(0|[1-9]\d{0,3}))?\.m4s$/;

/**
 * `master.m3u8`, `manifest.mpd`, `v0.m3u8`, `v0-recording.m3u8`, or of a stream that was reopened
 * `v0-1763764021333.m3u8` and `v0-1763764021333-recording.m3u8`; null for any other name.
 */
export function parsePlaylistName(name: string): MediaFile | null {
  if (name === 'master.m3u8') return { kind: 'master' };
  if (name === 'manifest.mpd') return { kind: 'manifest' };
  const [, track, reopened, recording] = PLAYLIST.exec(name) ?? [];
  if (track === undefined) return null;
  const kind = recording === undefined ? 'playlist' : 'recording';
  return { kind, track, reopenedMs: reopened === undefined ? null : Number(reopened) };
}

/**
 * `init-1763764021333.mp4`, `1763764021333-12.m4s` or `1763764021333-12.0.m4s` of a track: an init
 * segment, a segment and a part of it, of the epoch with this name. Null for any other name.
 */
export function parseMediaName(track: string, name: string): MediaFile | null {
  if (!TRACK.test(track)) return null;
  const [, startedMs, seq, index] = SEGMENT.exec(name) ?? [];
  if (startedMs !== undefined) {
    const segment = { track, epoch: Number(startedMs), seq: Number(seq) };
    return index === undefined
      ? { kind: 'segment', ...segment }
      : { kind: 'part', ...segment, index: Number(index) };
  }
  const epoch = INIT.exec(name)?.[1];
  return epoch === undefined ? null : { kind: 'init', track, epoch: Number(epoch) };
}

/** The `Content-Type` of a file. */
export function contentTypeOf({ kind, ...file }: MediaFile): string {
  if (kind === 'master' || kind === 'playlist' || kind === 'recording') {
    return 'application/vnd.apple.mpegurl';
  }
  if (kind === 'manifest') return 'application/dash+xml';
  // Some players and caches do not know `video/iso.segment`.
  return 'track' in file && file.track.startsWith('a') ? 'audio/mp4' : 'video/mp4';
}
