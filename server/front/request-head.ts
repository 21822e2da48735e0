import { prefersIn } from '../http/accept.ts';
import { Shape } from './shape.ts';

/** A request that a front may answer itself. */
export interface HotRequest {
  readonly shape: Shape;
  /** Of a read of the feed; 0 of a heartbeat. */
  readonly interval: number;
  readonly token: string;
  readonly lastEventId: string | null;
  /** Where the next request begins. */
  readonly end: number;
}

/** The bytes so far may become a head that is read; more must come. */
export const PARTIAL = 'partial';
/** A request for the inner server, or nothing that is HTTP. */
export const OTHER = 'other';

/** What a head may have at most before it is somebody else's: 16 KB, as in G-31. */
export const HEAD_BYTES_MAX = 16 * 1024;

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const HEARTBEAT = new RegExp(`^POST /api/v1/view-counts/(${UUID})/? HTTP/1\\.1$`);
const FEED = new RegExp(
  `^GET /api/v1/events-streams/(${UUID})/?(?:\\?interval=(0|[1-9][0-9]{0,15}))? HTTP/1\\.1$`,
);
// Visible ASCII, and single spaces around the value at most before it: whatever else RFC 9112 lets
// pass, or once let pass, some parser reads otherwise.
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/;
const HOST = /^[A-Za-z0-9._-]+(?::[0-9]{1,5})?$|^\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?$/;
const BEARER = /^Bearer ([\x21-\x7e]+)$/;

// What these ask for is the inner server's; so is each that is repeated.
const NOT_HERE = new Set([
  'transfer-encoding',
  'trailer',
  'te',
  'expect',
  'upgrade',
  'range',
  'if-none-match',
  'if-match',
  'if-modified-since',
  'if-unmodified-since',
  'http2-settings',
  'x-fourbeat-client',
]);
const ONCE = new Set([
  'host',
  'authorization',
  'accept',
  'connection',
  'content-length',
  'content-type',
  'last-event-id',
]);

/**
 * Reads the request that begins at an offset. It takes nothing but what every parser of HTTP/1.1
 * reads alike, without a body, so that where the next request begins is never in doubt.
 */
export function readHead(bytes: Buffer, at: number): HotRequest | typeof PARTIAL | typeof OTHER {
  const headEnd = bytes.indexOf(END_OF_HEAD, at);
  if (headEnd < 0) return mayBecomeHead(bytes, at) ? PARTIAL : OTHER;
  if (headEnd - at > HEAD_BYTES_MAX) return OTHER;
  const end = headEnd + END_OF_HEAD.length;
  const head = bytes.toString('latin1', at, end);
  const lineEnd = head.indexOf('\r\n');
  const requestLine = head.slice(0, lineEnd);
  const heartbeat = HEARTBEAT.exec(requestLine);
  const [, streamId, digits = ''] = heartbeat ?? FEED.exec(requestLine) ?? [];
  const interval = Number(digits);
  const headers = headersOf(head, lineEnd + 2);
  if (streamId === undefined || !Number.isSafeInteger(interval) || !headers) return OTHER;
  const token = tokenOf(headers);
  const hasBody = (headers.get('content-length')?.value ?? '0') !== '0';
  if (!token || hasBody || !stays(headers)) return OTHER;
  // A value ends where its line does, and so does a target where the version begins.
  const tokenAt = token.end - token.value.length;
  const digitsAt = digits === '' ? tokenAt : lineEnd - ' HTTP/1.1'.length - digits.length;
  const isStream = prefersIn(headers.get('accept')?.value ?? null, 'text/event-stream');
  const lastEventId = headers.get('last-event-id')?.value ?? null;
  // Whoever says what they have need not say what they want.
  if (!heartbeat && digits === '' && !(isStream && lastEventId !== null)) return OTHER;
  const shape = new Shape({
    kind: heartbeat ? 'heartbeat' : isStream ? 'stream' : 'interval',
    streamId,
    start: head.slice(0, digitsAt),
    middle: head.slice(digitsAt + digits.length, tokenAt),
    end: head.slice(token.end),
  });
  return { shape, interval, token: token.value, lastEventId, end };
}

/** A value of a header, or the end of one. */
export interface Field {
  readonly value: string;
  /** Where the value ends in the head. */
  readonly end: number;
}

/** Headers by their names in lower case; null when one of them leaves room for doubt. */
export function headersOf(head: string, first: number): Map<string, Field> | null {
  const headers = new Map<string, Field>();
  let end: number;
  for (let at = first; at < head.length - 2; at = end + 2) {
    end = head.indexOf('\r\n', at);
    const match = HEADER.exec(head.slice(at, end));
    if (!match) return null;
    const name = (match[1] as string).toLowerCase();
    if (NOT_HERE.has(name) || (ONCE.has(name) && headers.has(name))) return null;
    headers.set(name, { value: match[2] as string, end });
  }
  return headers;
}

/** The token of a viewer; null for any other credential. */
export function tokenOf(headers: ReadonlyMap<string, Field>): Field | null {
  const credential = headers.get('authorization');
  const token = BEARER.exec(credential?.value ?? '')?.[1];
  return credential && token !== undefined ? { value: token, end: credential.end } : null;
}

/** Whether a service was named, and the connection stays open behind the answer. */
export function stays(headers: ReadonlyMap<string, Field>): boolean {
  return (
    HOST.test(headers.get('host')?.value ?? '') &&
    (headers.get('connection')?.value ?? 'keep-alive').toLowerCase() === 'keep-alive'
  );
}

/** Whether bytes without an end of a head may be the begin of one. */
export function mayBecomeHead(bytes: Buffer, at: number): boolean {
  if (bytes.length - at > HEAD_BYTES_MAX || !isLetter(bytes[at] as number)) return false;
  for (let feed = bytes.indexOf(10, at); feed >= 0; feed = bytes.indexOf(10, feed + 1)) {
    if (bytes[feed - 1] !== 13) return false;
  }
  return true;
}

const isLetter = (byte: number) => (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122);
