import { headerPrefers } from '../http/accept.ts';
import { bytesOf, FIELD, type Field, HeaderLines, startsWithAt } from './header-lines.ts';
import { RequestLine, UUID_CHARS } from './request-classifier.ts';
import { RequestTemplate } from './request-template.ts';

/** More bytes must come before the request can be handled. */
export const NEED_MORE = -1;
/** No fast path takes the request: it goes to the origin server. */
export const FALLBACK = -2;

/** A heartbeat, or a read of the feed. */
export interface ViewerRequest {
  /** Refers to the bytes that were read and keeps them in memory. */
  readonly template: RequestTemplate;
  /** 0 for a heartbeat, and for a stream that only names its last event id. */
  readonly interval: number;
  /** The text at the position of the token, which is not verified. See `isTokenText`. */
  readonly token: string;
  readonly lastEventId: string | null;
  /** The offset of the next request. */
  readonly end: number;
}

/** The request headers that decide the form of an error response. */
export type ErrorPreferences = Readonly<Record<string, string>>;

/** An answer to a quiz, or a report of a winner, with its whole body. */
export interface QuizRequest {
  readonly path: 'quiz-answer' | 'winners-report';
  /** The offset of the UUID of the quiz that is answered, or of the stream of the winner. */
  readonly idAt: number;
  /** Where the token is, which is not verified. */
  readonly tokenAt: number;
  readonly tokenEnd: number;
  readonly bodyAt: number;
  /** The offset after the body, where the next request begins. */
  readonly end: number;
  readonly preferences: ErrorPreferences;
}

/** The largest head that is accepted: 16 KB (SPEC G-31). */
export const HEAD_BYTES_MAX = 16 * 1024;

const END_OF_HEAD = bytesOf('\r\n\r\n');
const HOST = /^[A-Za-z0-9._-]+(?::[0-9]{1,5})?$|^\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?$/;
const BEARER = bytesOf('Bearer ');
const TOKEN = /^[\x21-\x7e]+$/;
const NO_BODY = bytesOf('0');
const ANY_TYPE = bytesOf('*/*');
const JSON_TYPE = bytesOf('application/json');
const JSON_WITH_CHARSET = /^application\/json(?:; ?charset=utf-8)?$/i;
const LENGTH_DIGITS_MAX = 4;
const ZERO = 0x30;
const CR = 13;
const LF = 10;
const NO_PREFERENCES: ErrorPreferences = {};

// Reused by all requests: a parser never yields to another.
const line = new RequestLine();
const lines = new HeaderLines();

/**
 * Parses the heartbeat or feed read that begins at an offset. It takes only what every parser of HTTP/1.1
 * reads alike, without a body, so that the end of the request is unambiguous.
 */
export function parseViewerRequest(
  bytes: Buffer,
  at: number,
): ViewerRequest | typeof NEED_MORE | typeof FALLBACK {
  const verdict = checkHead(bytes, at);
  if (verdict) return verdict;
  const linesAt = line.read(bytes, at);
  if (linesAt === 0 || (line.path !== 'heartbeat' && line.path !== 'feed')) return FALLBACK;
  const end = lines.read(bytes, linesAt);
  if (end === 0 || !isPersistent(bytes) || !hasNoBody(bytes)) return FALLBACK;
  const tokenAt = tokenOffset(bytes);
  return tokenAt === 0 ? FALLBACK : buildViewerRequest(bytes, at, tokenAt, end);
}

function buildViewerRequest(
  bytes: Buffer,
  at: number,
  tokenAt: number,
  end: number,
): ViewerRequest | typeof FALLBACK {
  const { path, idAt, digitsAt, digitsEnd } = line;
  const isHeartbeat = path === 'heartbeat';
  const isStream = !isHeartbeat && prefersEventStream(bytes);
  const lastEventId = lines.text(bytes, FIELD['last-event-id']);
  const hasInterval = digitsAt > 0;
  // Only an event stream that resumes after its last event needs no interval.
  if (!isHeartbeat && !hasInterval && !(isStream && lastEventId !== null)) return FALLBACK;
  const tokenEnd = lines.endOf(FIELD.authorization);
  const template = new RequestTemplate({
    path: isHeartbeat ? 'heartbeat' : isStream ? 'feed-stream' : 'feed-read',
    streamId: bytes.toString('latin1', idAt, idAt + UUID_CHARS),
    fingerprint: lines.fingerprint,
    bytes,
    at,
    digitsAt: hasInterval ? digitsAt : tokenAt,
    digitsEnd: hasInterval ? digitsEnd : tokenAt,
    tokenAt,
    tokenEnd,
    end,
  });
  const interval = hasInterval ? line.interval : 0;
  const token = bytes.toString('latin1', tokenAt, tokenEnd);
  return { template, interval, token, lastEventId, end };
}

/**
 * Parses the answer or winner report that begins at an offset, as strictly as `parseViewerRequest`. A
 * request whose body is incomplete goes to the origin server, which has the timeout for it.
 */
export function parseQuizRequest(
  bytes: Buffer,
  at: number,
): QuizRequest | typeof NEED_MORE | typeof FALLBACK {
  const verdict = checkHead(bytes, at);
  if (verdict) return verdict;
  const linesAt = line.read(bytes, at);
  const { path, idAt } = line;
  if (linesAt === 0 || path === 'heartbeat' || path === 'feed') return FALLBACK;
  const bodyAt = lines.read(bytes, linesAt);
  const tokenAt = bodyAt === 0 ? 0 : tokenOffset(bytes);
  if (tokenAt === 0 || !isPersistent(bytes) || lines.has(FIELD['content-encoding'])) {
    return FALLBACK;
  }
  const bodyBytes = path === 'quiz-answer' ? jsonBytes(bytes) : hasNoBody(bytes) ? 0 : -1;
  const end = bodyAt + bodyBytes;
  if (bodyBytes < 0 || end > bytes.length) return FALLBACK;
  const tokenEnd = lines.endOf(FIELD.authorization);
  return { path, idAt, tokenAt, tokenEnd, bodyAt, end, preferences: errorPreferences(bytes) };
}

/** Whether a text at the position of a token has the characters of one. */
export function isTokenText(text: string): boolean {
  return TOKEN.test(text);
}

/** The value of a header in a head that was parsed before; null when it does not have the header. */
export function headerIn(head: Buffer, field: Field): string | null {
  lines.read(head, head.indexOf(LF) + 1);
  return lines.text(head, field);
}

/** Whether bytes without the end of a head may be the beginning of one. */
export function mayBecomeHead(bytes: Buffer, at: number): boolean {
  if (bytes.length - at > HEAD_BYTES_MAX || !isLetter(bytes[at] as number)) return false;
  for (let end = bytes.indexOf(LF, at); end >= 0; end = bytes.indexOf(LF, end + 1)) {
    if (bytes[end - 1] !== CR) return false;
  }
  return true;
}

/** Why the head that begins at an offset cannot be parsed, or not yet; null when it is complete. */
function checkHead(bytes: Buffer, at: number): typeof NEED_MORE | typeof FALLBACK | null {
  const last = bytes.length - END_OF_HEAD.length;
  // The common case needs no search: the bytes are exactly one head.
  if (last > at && bytes.length - at <= HEAD_BYTES_MAX && startsWithAt(END_OF_HEAD, bytes, last)) {
    return null;
  }
  const headEnd = bytes.indexOf(END_OF_HEAD, at);
  if (headEnd < 0) return mayBecomeHead(bytes, at) ? NEED_MORE : FALLBACK;
  return headEnd + END_OF_HEAD.length - at > HEAD_BYTES_MAX ? FALLBACK : null;
}

/** The offset of the bearer token, which ends with its line; 0 without one. */
function tokenOffset(bytes: Buffer): number {
  const field = FIELD.authorization;
  if (!lines.has(field) || !startsWithAt(BEARER, bytes, lines.startOf(field))) return 0;
  return lines.startOf(field) + BEARER.length;
}

/** Whether the head has a valid host and leaves the connection open after the response. */
function isPersistent(bytes: Buffer): boolean {
  return (
    HOST.test(lines.text(bytes, FIELD.host) ?? '') &&
    (lines.text(bytes, FIELD.connection) ?? 'keep-alive').toLowerCase() === 'keep-alive'
  );
}

function hasNoBody(bytes: Buffer): boolean {
  const field = FIELD['content-length'];
  return !lines.has(field) || lines.is(bytes, field, NO_BODY);
}

function prefersEventStream(bytes: Buffer): boolean {
  // `fetch` sends this by default.
  if (lines.is(bytes, FIELD.accept, ANY_TYPE)) return false;
  return headerPrefers(lines.text(bytes, FIELD.accept), 'text/event-stream');
}

/** The length of a JSON body; -1 when its type or length is missing or not in the expected form. */
function jsonBytes(bytes: Buffer): number {
  const type = FIELD['content-type'];
  const isJson =
    lines.is(bytes, type, JSON_TYPE) || JSON_WITH_CHARSET.test(lines.text(bytes, type) ?? '');
  return isJson && lines.has(FIELD['content-length']) ? contentLength(bytes) : -1;
}

/** `Content-Length`; -1 when it is 0, not canonical, or has more than four digits. */
function contentLength(bytes: Buffer): number {
  const from = lines.startOf(FIELD['content-length']);
  const to = lines.endOf(FIELD['content-length']);
  if (to - from > LENGTH_DIGITS_MAX || bytes[from] === ZERO) return -1;
  let length = 0;
  for (let at = from; at < to; at++) {
    const digit = (bytes[at] as number) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    length = length * 10 + digit;
  }
  return length;
}

function errorPreferences(bytes: Buffer): ErrorPreferences {
  const accept = lines.text(bytes, FIELD.accept);
  const requestId = lines.text(bytes, FIELD['x-request-id']);
  if (accept === null && requestId === null) return NO_PREFERENCES;
  return {
    ...(accept !== null && { accept }),
    ...(requestId !== null && { 'x-request-id': requestId }),
  };
}

const isLetter = (byte: number) => (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122);
