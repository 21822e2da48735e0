/** What the address of the page says. */
export interface PageOptions {
  readonly streamId: string;
  /** `?embed`: it is in somebody else's page, and only the picture and what lies over it is wanted. */
  readonly isEmbedded: boolean;
  /** What people say is shown: always, but in somebody else's page only with `?chat`. */
  readonly hasChat: boolean;
  /** `?muted`: begins without sound. */
  readonly isMuted: boolean;
  /** `?facts`: shows how picture and feed agree. */
  readonly hasFacts: boolean;
  /** `?origin=https://shop.example`: the page that may talk with this one; null: none may. */
  readonly origin: string | null;
}

/** @param href such as `https://live.example/watch/7d2c…?embed&origin=https://shop.example` */
export function pageOptionsOf(href: string): PageOptions {
  const { pathname, searchParams } = new URL(href);
  const isEmbedded = searchParams.has('embed');
  return {
    streamId: decodeURIComponent(pathname.split('/').filter(Boolean).at(-1) ?? ''),
    isEmbedded,
    hasChat: !isEmbedded || searchParams.has('chat'),
    isMuted: searchParams.has('muted'),
    hasFacts: searchParams.has('facts'),
    origin: originOf(searchParams.get('origin')),
  };
}

/** As browsers write it, so that it can be compared; null when it is none. */
function originOf(text: string | null): string | null {
  if (text === null || !URL.canParse(text)) return null;
  const { origin, protocol } = new URL(text);
  return protocol === 'https:' || protocol === 'http:' ? origin : null;
}
