/** The state of a stream's video in its HLS playlists (RFC 8216). */
export interface PlaylistState {
  /** Sizes of the renditions, such as `426x240`, the largest first. */
  readonly sizes: readonly string[];
  /** End of the newest segment in service time, Unix ms; null when there is none. */
  readonly edgeMs: number | null;
}

/** Parses a master playlist and the media playlist of one of its renditions. */
export function readPlaylists(master: string, media: string): PlaylistState {
  const sizes = [...master.matchAll(/^#EXT-X-STREAM-INF:.*\bRESOLUTION=(\d+x\d+)/gm)];
  return { sizes: sizes.map(([, size = '']) => size), edgeMs: edgeOf(media) };
}

function edgeOf(media: string): number | null {
  let edgeMs: number | null = null;
  for (const line of media.split(/\r?\n/)) {
    const [, date] = /^#EXT-X-PROGRAM-DATE-TIME:(.+)/.exec(line) ?? [];
    if (date !== undefined) edgeMs = Date.parse(date);
    const [, seconds] = /^#EXTINF:([\d.]+)/.exec(line) ?? [];
    if (seconds !== undefined && edgeMs !== null) edgeMs += Number(seconds) * 1_000;
  }
  return Number.isFinite(edgeMs) ? edgeMs : null;
}

const RESPONSE_TIMEOUT_MS = 2_000;

/** Fetches a stream's playlists, as a video player does. @returns null when there are none */
export async function fetchPlaylists(
  origin: string,
  streamId: string,
): Promise<PlaylistState | null> {
  try {
    const folder = `${origin}/media/${streamId}`;
    const [master, media] = await Promise.all([
      textOf(`${folder}/master.m3u8`),
      textOf(`${folder}/v0.m3u8`),
    ]);
    return readPlaylists(master, media);
  } catch {
    return null;
  }
}

async function textOf(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
