import { AnswerShape, type Preferences } from './answer-shape.ts';
import {
  type Field,
  HEAD_BYTES_MAX,
  headersOf,
  mayBecomeHead,
  OTHER,
  PARTIAL,
  stays,
  tokenOf,
} from './request-head.ts';

/** A `POST` of an answer, or of a report of a winner, that a front may take itself. */
export interface QuizRequest {
  readonly kind: 'answer' | 'record-winner';
  /** Of the quiz that is answered; of the stream whose winners are asked for. */
  readonly id: string;
  readonly token: string;
  /** A character for each byte. */
  readonly body: string;
  readonly preferences: Preferences;
  /** Of an answer. */
  readonly shape: AnswerShape | null;
  /** Where the next request begins. */
  readonly end: number;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const START = 'POST /api/v1/quizzes/';
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const REQUEST_LINE = new RegExp(`^${START}(${UUID})/(answer|record-winner)/? HTTP/1\\.1$`);
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;
const LENGTH = /^[1-9][0-9]{0,3}$/;

/**
 * Reads such a request as strictly as `readHead` does. One whose body has not come whole is left to
 * the inner server, which knows how long to wait for it.
 */
export function readQuizHead(
  bytes: Buffer,
  at: number,
): QuizRequest | typeof PARTIAL | typeof OTHER {
  const headEnd = bytes.indexOf(END_OF_HEAD, at);
  if (headEnd < 0) return mayBecomeHead(bytes, at) ? PARTIAL : OTHER;
  if (headEnd - at > HEAD_BYTES_MAX) return OTHER;
  const bodyAt = headEnd + END_OF_HEAD.length;
  const head = bytes.toString('latin1', at, bodyAt);
  const lineEnd = head.indexOf('\r\n');
  const [, id, kind] = REQUEST_LINE.exec(head.slice(0, lineEnd)) ?? [];
  const headers = headersOf(head, lineEnd + 2);
  const token = headers && tokenOf(headers);
  if (id === undefined || !token || !stays(headers) || headers.has('content-encoding'))
    return OTHER;
  const common = { id, token: token.value, preferences: preferencesOf(headers) };
  const length = headers.get('content-length');
  if (kind !== 'answer') {
    if ((length?.value ?? '0') !== '0') return OTHER;
    return { ...common, kind: 'record-winner', body: '', shape: null, end: bodyAt };
  }
  if (!length || !LENGTH.test(length.value)) return OTHER;
  if (!JSON_TYPE.test(headers.get('content-type')?.value ?? '')) return OTHER;
  const end = bodyAt + Number(length.value);
  if (end > bytes.length) return OTHER;
  const body = bytes.toString('latin1', bodyAt, end);
  const idAt = START.length;
  const shape = new AnswerShape(head, { idAt, token, length }, common.preferences);
  return { ...common, kind, body, shape, end };
}

function preferencesOf(headers: ReadonlyMap<string, Field>): Preferences {
  const preferences: Record<string, string> = {};
  for (const name of ['accept', 'x-request-id']) {
    const field = headers.get(name);
    if (field) preferences[name] = field.value;
  }
  return preferences;
}
