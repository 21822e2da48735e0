import { intervalAt } from '../../protocol/interval.ts';

/** What viewers send to be told the next interval. */
export interface HeldRequests {
  /** The interval that a viewer waits for at first; null when that is the next one, whichever. */
  first(): number | null;
  /** The request of a viewer; good until the next one is made. */
  bytes(viewer: number, awaited: number | null): Uint8Array;
  /** The head with which an interval was told first. */
  told(interval: number, head: Buffer): void;
}

/** How a server wants to be asked. */
export type HeldKind =
  | { readonly kind: 'interval'; readonly streamId: string; readonly tokens: readonly string[] }
  /** nchan: by the time and the tag of the message before. */
  | { readonly kind: 'message'; readonly path: string; readonly authorization: string };

export function heldRequests(host: string, how: HeldKind): HeldRequests {
  return how.kind === 'interval'
    ? byInterval(host, how.streamId, how.tokens)
    : byMessage(host, how.path, how.authorization);
}

const DIGITS = 10;
/** So that all have asked before it is over. */
const AHEAD = 2;

function byInterval(host: string, streamId: string, tokens: readonly string[]): HeldRequests {
  const start = `GET /api/v1/events-streams/${streamId}?interval=`;
  const made = tokens.map((token) =>
    Buffer.from(
      `${start}${'0'.repeat(DIGITS)} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    ),
  );
  let digits = Buffer.alloc(DIGITS);
  let digitsOf = 0;
  return {
    first: () => intervalAt(Date.now()) + AHEAD,
    bytes: (viewer, awaited) => {
      if (awaited !== null && awaited !== digitsOf) {
        digits = Buffer.from(String(awaited));
        digitsOf = awaited;
      }
      const request = made[viewer] as Buffer;
      digits.copy(request, start.length);
      return request;
    },
    told: () => {},
  };
}

const KEPT = 16;

function byMessage(host: string, path: string, authorization: string): HeldRequests {
  const start = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\n`;
  const first = Buffer.from(`${start}\r\n`);
  const kept: { interval: number; request: Buffer }[] = [];
  return {
    first: () => null,
    bytes: (_viewer, awaited) => {
      if (awaited === null) return first;
      const known = kept[(awaited - 1) % KEPT];
      if (known?.interval !== awaited - 1) throw new Error(`nobody was told ${awaited - 1}`);
      return known.request;
    },
    told: (interval, head) => {
      const field = (name: RegExp) => name.exec(head.toString('latin1'))?.[1];
      const since = field(/\r\nlast-modified: ([^\r]*)/i);
      const tag = field(/\r\netag: ([^\r]*)/i);
      const request = `${start}If-Modified-Since: ${since}\r\nIf-None-Match: ${tag}\r\n\r\n`;
      kept[interval % KEPT] = { interval, request: Buffer.from(request) };
    },
  };
}
