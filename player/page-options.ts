export interface PageOptions {
  readonly streamId: string;
  /** `?embed`: the page is in a frame and shows only the stage. */
  readonly isEmbedded: boolean;
  /** Whether there is a chat: always, but in an embedded page only with `?chat`. */
  readonly hasChat: boolean;
  /** `?muted`: starts without sound. */
  readonly isMuted: boolean;
  /** `?facts`: opens the playback stats. */
  readonly hasStats: boolean;
  /** `?origin=https://shop.example`: the origin of the host page that may exchange messages. */
  readonly hostOrigin: string | null;
}

/** @param href such as `https://live.example/watch/7d2c…?embed&origin=https://shop.example` */
export function parsePageOptions(href: string): PageOptions {
  const { pathname, searchParams } = new URL(href);
  const isEmbedded = searchParams.has('embed');
  return {
    streamId: decode(pathname.split('/').filter(Boolean).at(-1) ?? ''),
    isEmbedded,
    hasChat: !isEmbedded || searchParams.has('chat'),
    isMuted: searchParams.has('muted'),
    hasStats: searchParams.has('facts'),
    hostOrigin: normalizeOrigin(searchParams.get('origin')),
  };
}

/** @returns the text as it is, if it is not valid percent-encoding */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @returns the origin in the form of `MessageEvent.origin`; null: not an HTTP origin */
function normalizeOrigin(text: string | null): string | null {
  if (text === null || !URL.canParse(text)) return null;
  const { origin, protocol } = new URL(text);
  return protocol === 'https:' || protocol === 'http:' ? origin : null;
}
