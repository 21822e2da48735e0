import { FIELD, HeaderLines, isAt } from './header-lines.ts';
import { OTHER, obstacleOf, type PARTIAL, stays, tokenIn } from './request-head.ts';
import { bytesOf, isUuid, SLASH, UUID_CHARS, VERSION } from './request-line.ts';

/** What a client says of how it wants to be told no. */
export type Preferences = Readonly<Record<string, string>>;

const NO_PREFERENCES: Preferences = {};

/** A `POST` of an answer, or of a report of a winner, that a front may take itself. */
export interface QuizRequest {
  readonly kind: 'answer' | 'record-winner';
  /** Where the id of the quiz that is answered is, or of the stream whose winners are asked for. */
  readonly idAt: number;
  /** What is there is a token only if somebody knows it. */
  readonly tokenAt: number;
  readonly tokenEnd: number;
  readonly bodyAt: number;
  /** Where the body ends, and the next request begins. */
  readonly end: number;
  readonly preferences: Preferences;
}

const START = bytesOf('POST /api/v1/quizzes/');
const ANSWER = bytesOf('/answer');
const REPORT = bytesOf('/record-winner');
const NO_BODY = bytesOf('0');
const JSON_TYPE = bytesOf('application/json');
const ALSO_JSON = /^application\/json(?:; ?charset=utf-8)?$/i;
const LENGTH_DIGITS_MAX = 4;
const ZERO = 0x30;

// Of the head that is being read: there is one at a time.
const lines = new HeaderLines();

/**
 * Reads such a request as strictly as `readHead` does. One whose body has not come whole is left to
 * the origin server, which knows how long to wait for it.
 */
export function readQuizHead(
  bytes: Buffer,
  at: number,
): QuizRequest | typeof PARTIAL | typeof OTHER {
  const obstacle = obstacleOf(bytes, at);
  if (obstacle) return obstacle;
  const idAt = at + START.length;
  const kindAt = idAt + UUID_CHARS;
  if (!isAt(START, bytes, at) || !isUuid(bytes, idAt)) return OTHER;
  const isAnswer = isAt(ANSWER, bytes, kindAt);
  if (!isAnswer && !isAt(REPORT, bytes, kindAt)) return OTHER;
  const bodyAt = endOfLines(bytes, kindAt + (isAnswer ? ANSWER : REPORT).length);
  const tokenAt = bodyAt === 0 ? 0 : tokenIn(bytes, lines);
  if (tokenAt === 0 || !stays(bytes, lines) || lines.has(FIELD['content-encoding'])) return OTHER;
  const bodyBytes = isAnswer ? lengthOfJson(bytes) : lengthOfNothing(bytes);
  const end = bodyAt + bodyBytes;
  if (bodyBytes < 0 || end > bytes.length) return OTHER;
  return {
    kind: isAnswer ? 'answer' : 'record-winner',
    idAt,
    tokenAt,
    tokenEnd: lines.endOf(FIELD.authorization),
    bodyAt,
    end,
    preferences: preferencesIn(bytes),
  };
}

/** @returns where what follows the head begins; 0 when it cannot be read here */
function endOfLines(bytes: Buffer, targetEnd: number): number {
  const versionAt = bytes[targetEnd] === SLASH ? targetEnd + 1 : targetEnd;
  return isAt(VERSION, bytes, versionAt) ? lines.read(bytes, versionAt + VERSION.length) : 0;
}

/** How many bytes of JSON follow; -1 when it is not said as it should be. */
function lengthOfJson(bytes: Buffer): number {
  const type = FIELD['content-type'];
  const isJson = lines.is(bytes, type, JSON_TYPE) || ALSO_JSON.test(lines.text(bytes, type) ?? '');
  return isJson && lines.has(FIELD['content-length']) ? lengthIn(bytes) : -1;
}

/** What `Content-Length` says; -1 unless it is a canonical number of at most four digits, and not 0. */
function lengthIn(bytes: Buffer): number {
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

/** 0; -1 when something follows. */
function lengthOfNothing(bytes: Buffer): number {
  const field = FIELD['content-length'];
  return !lines.has(field) || lines.is(bytes, field, NO_BODY) ? 0 : -1;
}

function preferencesIn(bytes: Buffer): Preferences {
  const accept = lines.text(bytes, FIELD.accept);
  const requestId = lines.text(bytes, FIELD['x-request-id']);
  if (accept === null && requestId === null) return NO_PREFERENCES;
  return {
    ...(accept !== null && { accept }),
    ...(requestId !== null && { 'x-request-id': requestId }),
  };
}
