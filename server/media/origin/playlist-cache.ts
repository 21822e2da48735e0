import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { PlayableStream, Presentation } from '../segment.ts';

export interface RenderedPlaylist {
  readonly version: number;
  readonly plain: Uint8Array;
  /** Hash of the text. Weak, because the compressed body has it too. */
  readonly etag: string;
  /** Compressed on first use; a promise while that runs. */
  gzipped: Uint8Array | Promise<Uint8Array> | null;
}

// More than a stream has: about six tracks, each with a live playlist and one of the recording, before
// and after a reopening, each with a delta update. Of a recording of 10 h they are 3.4 MB each.
const PLAYLISTS_PER_STREAM_MAX = 128;

// A playlist of two hours is 700 KB and changes each second: speed matters more than the last tenth
// of its size.
const compress = promisify(gzip) as (
  bytes: Uint8Array,
  options: { level: number },
) => Promise<Uint8Array>;
const GZIP_LEVEL = 4;

const encoder = new TextEncoder();

/** Rendered playlists: each is rendered once and shared until its stream changes. */
export class PlaylistCache {
  private readonly playlists = new WeakMap<PlayableStream, Map<string, RenderedPlaylist>>();

  /**
   * Returns the cached playlist, or renders it.
   * @param key identifies the playlist within the stream
   * @returns null when `render` returns null
   */
  get(
    stream: PlayableStream,
    key: string,
    render: (presentation: Presentation) => string | null,
  ): RenderedPlaylist | null {
    const presentation = stream.presentation();
    const streamPlaylists = this.playlists.get(stream) ?? new Map<string, RenderedPlaylist>();
    this.playlists.set(stream, streamPlaylists);
    const cached = streamPlaylists.get(key);
    if (cached?.version === presentation.version) return cached;
    const text = render(presentation);
    if (text === null) {
      streamPlaylists.delete(key);
      return null;
    }
    const plain = encoder.encode(text);
    const etag = `W/"${Bun.hash.xxHash64(plain).toString(36)}"`;
    const { version } = presentation;
    const rendered: RenderedPlaylist =
      cached?.etag === etag ? { ...cached, version } : { version, plain, etag, gzipped: null };
    // The most recently rendered is the last one.
    streamPlaylists.delete(key);
    streamPlaylists.set(key, rendered);
    if (streamPlaylists.size > PLAYLISTS_PER_STREAM_MAX) removeOldest(streamPlaylists);
    return rendered;
  }
}

// Each reopening leaves the playlists of the session before, which nobody can request any more.
function removeOldest(playlists: Map<string, RenderedPlaylist>): void {
  const [oldest] = playlists.keys();
  if (oldest !== undefined) playlists.delete(oldest);
}

/** The gzipped text; compressed once and cached. */
export function gzipped(rendered: RenderedPlaylist): Uint8Array | Promise<Uint8Array> {
  rendered.gzipped ??= compress(rendered.plain, { level: GZIP_LEVEL }).then((bytes) => {
    rendered.gzipped = bytes;
    return bytes;
  });
  return rendered.gzipped;
}
