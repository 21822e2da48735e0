import { intervalAt } from '../../protocol/interval.ts';

export interface LongPollRequests {
  /** The interval of the first request; null when the server decides it. */
  first(): number | null;
  /** The request of a viewer for an interval, or for the first one; valid until the next call. */
  bytes(viewer: number, awaited: number | null): Uint8Array;
  /** Called once for each interval, with the head of its first response. */
  intervalReceived(interval: number, head: Buffer): void;
}

/** How a request selects the next interval. */
export type LongPollKind =
  | { readonly kind: 'interval'; readonly streamId: string; readonly tokens: readonly string[] }
  /** nchan: by Last-Modified and ETag of the previous message. */
  | { readonly kind: 'message'; readonly path: string; readonly authorization: string };

export function longPollRequests(host: string, requestKind: LongPollKind): LongPollRequests {
  return requestKind.kind === 'interval'
    ? requestsByInterval(host, requestKind.streamId, requestKind.tokens)
    : requestsByMessage(host, requestKind.path, requestKind.authorization);
}

const DIGITS = 10;
/** Far enough ahead that all requests are sent before it ends. */
const AHEAD_INTERVALS = 2;

function requestsByInterval(
  host: string,
  streamId: string,
  tokens: readonly string[],
): LongPollRequests {
  const start = `GET /api/v1/events-streams/${streamId}?interval=`;
  const requests = tokens.map((token) =>
    Buffer.from(
      `${start}${'0'.repeat(DIGITS)} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    ),
  );
  let digits = Buffer.alloc(DIGITS);
  let digitsInterval = 0;
  return {
    first: () => intervalAt(Date.now()) + AHEAD_INTERVALS,
    bytes: (viewer, awaited) => {
      if (awaited !== null && awaited !== digitsInterval) {
        digits = Buffer.from(String(awaited));
        digitsInterval = awaited;
      }
      const request = requests[viewer] as Buffer;
      digits.copy(request, start.length);
      return request;
    },
    intervalReceived: () => {},
  };
}

const CACHED_REQUESTS = 16;

function requestsByMessage(host: string, path: string, authorization: string): LongPollRequests {
  const start = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\n`;
  const first = Buffer.from(`${start}\r\n`);
  const cached: { interval: number; request: Buffer }[] = [];
  return {
    first: () => null,
    bytes: (_viewer, awaited) => {
      if (awaited === null) return first;
      const known = cached[(awaited - 1) % CACHED_REQUESTS];
      if (known?.interval !== awaited - 1) throw new Error(`no viewer received ${awaited - 1}`);
      return known.request;
    },
    intervalReceived: (interval, head) => {
      const field = (name: RegExp) => name.exec(head.toString('latin1'))?.[1];
      const since = field(/\r\nlast-modified: ([^\r]*)/i);
      const tag = field(/\r\netag: ([^\r]*)/i);
      const request = `${start}If-Modified-Since: ${since}\r\nIf-None-Match: ${tag}\r\n\r\n`;
      cached[interval % CACHED_REQUESTS] = { interval, request: Buffer.from(request) };
    },
  };
}
