import { headerPrefers } from '../http/accept.ts';
import { FIELD, type Field, HeaderLines, isAt } from './header-lines.ts';
import { bytesOf, RequestLine, UUID_CHARS } from './request-line.ts';
import { RequestTemplate } from './request-template.ts';

/** A request that a front may answer itself. */
export interface HotRequest {
  /** Of the bytes that were read, which it holds. */
  readonly shape: RequestTemplate;
  /** Of a read of the feed; 0 of a heartbeat. */
  readonly interval: number;
  /** What is in the token's place: a token if somebody knows it, or if `isToken` says so. */
  readonly token: string;
  readonly lastEventId: string | null;
  /** Where the next request begins. */
  readonly end: number;
}

/** The bytes so far may become a head that is read; more must come. */
export const PARTIAL = 'partial';
/** A request for the origin server, or nothing that is HTTP. */
export const OTHER = 'other';

/** What a head may have at most before it is somebody else's: 16 KB, as in G-31. */
export const HEAD_BYTES_MAX = 16 * 1024;

const END_OF_HEAD = bytesOf('\r\n\r\n');
const HOST = /^[A-Za-z0-9._-]+(?::[0-9]{1,5})?$|^\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?$/;
const BEARER = bytesOf('Bearer ');
const TOKEN = /^[\x21-\x7e]+$/;
const NO_BODY = bytesOf('0');
const ANY_TYPE = bytesOf('*/*');
const CARRIAGE_RETURN = 13;
const LINE_FEED = 10;

// Of the head that is being read: there is one at a time.
const line = new RequestLine();
const lines = new HeaderLines();

/**
 * Reads the request that begins at an offset. It takes nothing but what every parser of HTTP/1.1
 * reads alike, without a body, so that where the next request begins is never in doubt.
 */
export function readHead(bytes: Buffer, at: number): HotRequest | typeof PARTIAL | typeof OTHER {
  const obstacle = obstacleOf(bytes, at);
  if (obstacle) return obstacle;
  const linesAt = line.read(bytes, at);
  const end = linesAt === 0 ? 0 : lines.read(bytes, linesAt);
  if (end === 0 || !stays(bytes, lines) || hasBody(bytes)) return OTHER;
  const tokenAt = tokenIn(bytes, lines);
  return tokenAt === 0 ? OTHER : requestOf(bytes, at, tokenAt, end);
}

function requestOf(
  bytes: Buffer,
  at: number,
  tokenAt: number,
  end: number,
): HotRequest | typeof OTHER {
  const { isHeartbeat, idAt, digitsAt, digitsEnd } = line;
  const isStream = !isHeartbeat && wantsStream(bytes);
  const lastEventId = lines.text(bytes, FIELD['last-event-id']);
  const hasInterval = digitsAt > 0;
  // Whoever says what they have need not say what they want.
  if (!isHeartbeat && !hasInterval && !(isStream && lastEventId !== null)) return OTHER;
  const interval = hasInterval ? Number(bytes.toString('latin1', digitsAt, digitsEnd)) : 0;
  if (!Number.isSafeInteger(interval)) return OTHER;
  const tokenEnd = lines.endOf(FIELD.authorization);
  const shape = new RequestTemplate({
    kind: isHeartbeat ? 'heartbeat' : isStream ? 'stream' : 'interval',
    streamId: bytes.toString('latin1', idAt, idAt + UUID_CHARS),
    print: lines.print,
    bytes,
    at,
    digitsAt: hasInterval ? digitsAt : tokenAt,
    digitsEnd: hasInterval ? digitsEnd : tokenAt,
    tokenAt,
    tokenEnd,
    end,
  });
  return { shape, interval, token: bytes.toString('latin1', tokenAt, tokenEnd), lastEventId, end };
}

/** Whether a text that was found in the place of a token may be one. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Why what begins at an offset cannot be read here, or not yet; null when its head is whole. */
export function obstacleOf(bytes: Buffer, at: number): typeof PARTIAL | typeof OTHER | null {
  const last = bytes.length - END_OF_HEAD.length;
  // Nearly always all that came is one head: then nothing needs to be looked for.
  if (last > at && bytes.length - at <= HEAD_BYTES_MAX && isAt(END_OF_HEAD, bytes, last))
    return null;
  const headEnd = bytes.indexOf(END_OF_HEAD, at);
  if (headEnd < 0) return mayBecomeHead(bytes, at) ? PARTIAL : OTHER;
  return headEnd + END_OF_HEAD.length - at > HEAD_BYTES_MAX ? OTHER : null;
}

/** Where the token of a viewer begins, which has the rest of its line; 0 with any other credential. */
export function tokenIn(bytes: Buffer, lines: HeaderLines): number {
  const field = FIELD.authorization;
  if (!lines.has(field) || !isAt(BEARER, bytes, lines.startOf(field))) return 0;
  return lines.startOf(field) + BEARER.length;
}

/** Whether a service was named, and the connection stays open behind the answer. */
export function stays(bytes: Buffer, lines: HeaderLines): boolean {
  return (
    HOST.test(lines.text(bytes, FIELD.host) ?? '') &&
    (lines.text(bytes, FIELD.connection) ?? 'keep-alive').toLowerCase() === 'keep-alive'
  );
}

function hasBody(bytes: Buffer): boolean {
  const field = FIELD['content-length'];
  return lines.has(field) && !lines.is(bytes, field, NO_BODY);
}

function wantsStream(bytes: Buffer): boolean {
  // What `fetch` sends by itself.
  if (lines.is(bytes, FIELD.accept, ANY_TYPE)) return false;
  return headerPrefers(lines.text(bytes, FIELD.accept), 'text/event-stream');
}

/** The value of a header in a head that was read; null: there is none. */
export function valueIn(head: Buffer, field: Field): string | null {
  lines.read(head, head.indexOf(LINE_FEED) + 1);
  return lines.text(head, field);
}

/** Whether bytes without an end of a head may be the begin of one. */
export function mayBecomeHead(bytes: Buffer, at: number): boolean {
  if (bytes.length - at > HEAD_BYTES_MAX || !isLetter(bytes[at] as number)) return false;
  for (
    let feed = bytes.indexOf(LINE_FEED, at);
    feed >= 0;
    feed = bytes.indexOf(LINE_FEED, feed + 1)
  ) {
    if (bytes[feed - 1] !== CARRIAGE_RETURN) return false;
  }
  return true;
}

const isLetter = (byte: number) => (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122);
