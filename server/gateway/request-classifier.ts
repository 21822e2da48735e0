import { bytesOf, startsWithAt } from './header-lines.ts';

/** The fast path that a method and a path take. `Accept` decides how the feed is read. */
export type FastPath = 'heartbeat' | 'feed' | 'quiz-answer' | 'winners-report';

export const UUID_CHARS = 36;

const HEARTBEAT = bytesOf('POST /api/v1/view-counts/');
const FEED = bytesOf('GET /api/v1/events-streams/');
const QUIZ = bytesOf('POST /api/v1/quizzes/');
const ANSWER = bytesOf('/answer');
const WINNERS_REPORT = bytesOf('/record-winner');
const INTERVAL = bytesOf('?interval=');
const VERSION = bytesOf(' HTTP/1.1\r\n');

/** The offset of the first byte in which the paths that take a `POST` differ. */
const RESOURCE_AT = 'POST /api/v1/'.length;
const LETTER_P = 0x50;
const LETTER_Q = 0x71;
const SLASH = 0x2f;
const DASH = 0x2d;
const ZERO = 0x30;
const LETTER_A = 0x61;
const LETTER_F = 0x66;

/**
 * The only resource that a request can be for, by two of its bytes. `RequestLine` or a match with a
 * template confirms it: to compare all bytes first would cost as much as the rest of a heartbeat.
 */
export function guessResource(bytes: Buffer, at: number): 'heartbeat' | 'feed' | 'quiz' {
  if (bytes[at + RESOURCE_AT] === LETTER_Q) return 'quiz';
  return bytes[at] === LETTER_P ? 'heartbeat' : 'feed';
}

/**
 * Classifies requests by their request line. One instance is reused for all requests, so that none
 * allocates.
 */
export class RequestLine {
  path: FastPath = 'feed';
  /** The offset of the UUID: of the quiz for `quiz-answer`, of the stream for all others. */
  idAt = 0;
  /** Where the interval number is; both are 0 without one. */
  digitsAt = 0;
  digitsEnd = 0;
  private readonly number = new IntervalNumber();

  /**
   * @returns the offset of the first header line; 0 when no fast path takes the request, or its
   *   request line is not in the one form that fast paths read
   */
  read(bytes: Buffer, at: number): number {
    this.digitsAt = 0;
    this.digitsEnd = 0;
    const resource = guessResource(bytes, at);
    const start = resource === 'quiz' ? QUIZ : resource === 'heartbeat' ? HEARTBEAT : FEED;
    this.idAt = at + start.length;
    if (!startsWithAt(start, bytes, at) || !isUuid(bytes, this.idAt)) return 0;
    let next = this.idAt + UUID_CHARS;
    if (resource === 'quiz') {
      next = this.readQuizAction(bytes, next);
      if (next === 0) return 0;
    } else this.path = resource;
    if (bytes[next] === SLASH) next++;
    if (resource === 'feed' && startsWithAt(INTERVAL, bytes, next)) {
      this.digitsAt = next + INTERVAL.length;
      if (!this.number.read(bytes, this.digitsAt)) return 0;
      next = this.number.end;
      this.digitsEnd = next;
    }
    return startsWithAt(VERSION, bytes, next) ? next + VERSION.length : 0;
  }

  /** The interval that the request line names; only with `digitsAt`. */
  get interval(): number {
    return this.number.value;
  }

  private readQuizAction(bytes: Buffer, at: number): number {
    if (startsWithAt(ANSWER, bytes, at)) {
      this.path = 'quiz-answer';
      return at + ANSWER.length;
    }
    if (!startsWithAt(WINNERS_REPORT, bytes, at)) return 0;
    this.path = 'winners-report';
    return at + WINNERS_REPORT.length;
  }
}

const DIGITS_MAX = 16;

/** Parses the interval number in a request, as `parseInterval` parses that of a text (SPEC F-6). */
export class IntervalNumber {
  value = 0;
  /** The offset after the last digit. */
  end = 0;

  /** @returns whether a number in canonical form begins at the offset */
  read(bytes: Buffer, at: number): boolean {
    let value = 0;
    let next = at;
    for (let digit = digitAt(bytes, next); digit >= 0; digit = digitAt(bytes, ++next)) {
      value = value * 10 + digit;
    }
    const digits = next - at;
    this.value = value;
    this.end = next;
    if (digits === 0 || digits > DIGITS_MAX || !Number.isSafeInteger(value)) return false;
    return digits === 1 || bytes[at] !== ZERO;
  }
}

function digitAt(bytes: Buffer, at: number): number {
  const digit = (bytes[at] as number) - ZERO;
  return digit >= 0 && digit <= 9 ? digit : -1;
}

/** Whether a UUID in lower case begins at the offset. */
function isUuid(bytes: Buffer, at: number): boolean {
  for (let index = 0; index < UUID_CHARS; index++) {
    const byte = bytes[at + index] as number;
    const isDash = index === 8 || index === 13 || index === 18 || index === 23;
    if (isDash ? byte !== DASH : !isHex(byte)) return false;
  }
  return true;
}

function isHex(byte: number): boolean {
  return (byte >= ZERO && byte <= ZERO + 9) || (byte >= LETTER_A && byte <= LETTER_F);
}
