import { FIELD, HeaderLines, isAt } from './header-lines.ts';
import { OTHER, obstacleOf, type PARTIAL, stays, tokenIn } from './request-head.ts';
import { bytesOf, isUuid, SLASH, UUID_CHARS, VERSION } from './request-line.ts';

/** What a client says of how it wants to be told no. */
export type Preferences = Readonly<Record<string, string>>;

/** A `POST` of an answer, or of a report of a winner, that a front may take itself. */
export interface QuizRequest {
  readonly kind: 'answer' | 'record-winner';
  /** Of the quiz that is answered; of the stream whose winners are asked for. */
  readonly id: string;
  /** What is in the token's place: one only if somebody knows it. */
  readonly token: string;
  /** A character for each byte. */
  readonly body: string;
  readonly preferences: Preferences;
  /** Where the next request begins. */
  readonly end: number;
}

const START = bytesOf('POST /api/v1/quizzes/');
const ANSWER = bytesOf('/answer');
const REPORT = bytesOf('/record-winner');
const NO_BODY = bytesOf('0');
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;
const LENGTH = /^[1-9][0-9]{0,3}$/;

// Of the head that is being read: there is one at a time.
const lines = new HeaderLines();

/**
 * Reads such a request as strictly as `readHead` does. One whose body has not come whole is left to
 * the inner server, which knows how long to wait for it.
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
    id: bytes.toString('latin1', idAt, kindAt),
    token: bytes.toString('latin1', tokenAt, lines.endOf(FIELD.authorization)),
    body: bytes.toString('latin1', bodyAt, end),
    preferences: preferencesIn(bytes),
    end,
  };
}

/** @returns where what follows the head begins; 0 when it cannot be read here */
function endOfLines(bytes: Buffer, targetEnd: number): number {
  const versionAt = bytes[targetEnd] === SLASH ? targetEnd + 1 : targetEnd;
  return isAt(VERSION, bytes, versionAt) ? lines.read(bytes, versionAt + VERSION.length) : 0;
}

/** How many bytes of JSON follow; -1 when it is not said as it should be. */
function lengthOfJson(bytes: Buffer): number {
  const length = lines.text(bytes, FIELD['content-length']) ?? '';
  const type = lines.text(bytes, FIELD['content-type']) ?? '';
  return LENGTH.test(length) && JSON_TYPE.test(type) ? Number(length) : -1;
}

/** 0; -1 when something follows. */
function lengthOfNothing(bytes: Buffer): number {
  const field = FIELD['content-length'];
  return !lines.has(field) || lines.is(bytes, field, NO_BODY) ? 0 : -1;
}

function preferencesIn(bytes: Buffer): Preferences {
  const preferences: Record<string, string> = {};
  for (const name of ['accept', 'x-request-id'] as const) {
    const value = lines.text(bytes, FIELD[name]);
    if (value !== null) preferences[name] = value;
  }
  return preferences;
}
