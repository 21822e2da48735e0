/** What playlists tell of a stream's video (RFC 8216). */
export interface PlaylistState {
  /** Sizes of the renditions, such as `426x240`, the largest first. */
  readonly sizes: readonly string[];
  /** Service time at which the newest segment ends, Unix ms; null: there is none yet. */
  readonly edgeMs: number | null;
}

/** Reads a master playlist and a media playlist of one of its renditions. */
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

/** Looks at a stream's playlists, as a player does. @returns null when there are none */
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
