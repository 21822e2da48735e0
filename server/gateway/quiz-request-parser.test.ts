import { describe, expect, test } from 'bun:test';
import { FALLBACK, NEED_MORE } from './request-head.ts';
import { parseQuizRequest, type QuizRequest } from './viewer-fast-path.ts';

const QUIZ = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const BODY = '{"choice":"Mars"}';
const LENGTH = 'Content-Length: 17';
const TYPE = 'Content-Type: application/json';
const HEADERS = ['Host: example.org', 'Authorization: Bearer a.b.c', TYPE, LENGTH];

const lineOf = (target: string) => `POST ${target} HTTP/1.1`;
const ANSWER = lineOf(`/api/v1/quizzes/${QUIZ}/answer`);
const REPORT = lineOf(`/api/v1/quizzes/${QUIZ}/record-winner`);
const bytesOf = (line: string, headers: readonly string[], body = '') =>
  Buffer.from([line, ...headers, '', body].join('\r\n'));

const read = (line: string, headers: readonly string[], body = BODY) =>
  parseQuizRequest(bytesOf(line, headers, body), 0);
const readAnswer = (headers = HEADERS, body = BODY) => read(ANSWER, headers, body) as QuizRequest;
const partsOf = (bytes: Buffer, request: QuizRequest) => ({
  id: bytes.toString('latin1', request.idAt, request.idAt + QUIZ.length),
  token: bytes.toString('latin1', request.tokenAt, request.tokenEnd),
  body: bytes.toString('latin1', request.bodyAt, request.end),
});

describe('parseQuizRequest', () => {
  test('parses an answer between other bytes, with its body and error preferences', () => {
    const bytes = Buffer.concat([Buffer.from('xyz'), bytesOf(ANSWER, HEADERS, `${BODY}POST`)]);
    const request = parseQuizRequest(bytes, 3) as QuizRequest;
    expect(request).toMatchObject({ path: 'quiz-answer', preferences: {} });
    expect(partsOf(bytes, request)).toEqual({ id: QUIZ, token: 'a.b.c', body: BODY });
    const withPreferences = ['Accept: application/problem+json', 'X-Request-Id: 7', ...HEADERS];
    expect(readAnswer(withPreferences).preferences).toEqual({
      accept: 'application/problem+json',
      'x-request-id': '7',
    });
  });

  test('parses a winner report without a body, with and without Content-Length', () => {
    const headers = HEADERS.slice(0, 2); // without those of the body
    for (const more of [[], ['Content-Length: 0']]) {
      const bytes = bytesOf(REPORT, [...headers, ...more]);
      const request = parseQuizRequest(bytes, 0) as QuizRequest;
      expect(request.path).toBe('winners-report');
      expect(partsOf(bytes, request)).toEqual({ id: QUIZ, token: 'a.b.c', body: '' });
    }
    expect(read(REPORT, [...headers, 'Content-Length: 1'], 'x')).toBe(FALLBACK);
  });

  test('needs more bytes of an incomplete head, and falls back for an incomplete body', () => {
    const bytes = bytesOf(ANSWER, HEADERS, BODY);
    const headEnd = bytes.length - BODY.length;
    for (let length = 20; length < headEnd; length++) {
      expect(parseQuizRequest(bytes.subarray(0, length), 0)).toBe(NEED_MORE);
    }
    for (let length = headEnd; length < bytes.length; length++) {
      expect(parseQuizRequest(bytes.subarray(0, length), 0)).toBe(FALLBACK);
    }
  });

  test.each([
    ['another path', lineOf(`/api/v1/quizzes/${QUIZ}/answers`), HEADERS],
    ['a query', lineOf(`/api/v1/quizzes/${QUIZ}/answer?a=1`), HEADERS],
    ['an id in upper case', ANSWER.replace(QUIZ, QUIZ.toUpperCase()), HEADERS],
    ['a percent-escape', ANSWER.replace('quizzes', 'qu%69zzes'), HEADERS],
    ['HTTP/1.0', ANSWER.replace('1.1', '1.0'), HEADERS],
    ['no token', ANSWER, HEADERS.toSpliced(1, 1)],
    ['a service token', ANSWER, HEADERS.with(1, 'Authorization: Token a')],
    ['no host', ANSWER, HEADERS.toSpliced(0, 1)],
    ['no content type', ANSWER, HEADERS.toSpliced(2, 1)],
    ['another content type', ANSWER, HEADERS.with(2, 'Content-Type: text/plain')],
    ['another charset', ANSWER, HEADERS.with(2, `${TYPE}; charset=latin1`)],
    ['two content types', ANSWER, [...HEADERS, TYPE]],
    ['no length', ANSWER, HEADERS.toSpliced(3, 1)],
    ['two lengths', ANSWER, [...HEADERS, LENGTH]],
    ['an empty body', ANSWER, HEADERS.with(3, 'Content-Length: 0')],
    ['a length with a leading zero', ANSWER, HEADERS.with(3, 'Content-Length: 017')],
    ['a length with a plus sign', ANSWER, HEADERS.with(3, 'Content-Length: +17')],
    ['a chunked body', ANSWER, [...HEADERS, 'Transfer-Encoding: chunked']],
    ['a content encoding', ANSWER, [...HEADERS, 'Content-Encoding: identity']],
    ['an expectation', ANSWER, [...HEADERS, 'Expect: 100-continue']],
    ['Connection: close', ANSWER, [...HEADERS, 'Connection: close']],
  ])('falls back to the origin server for %s', (_, line, headers) => {
    expect(read(line, headers)).toBe(FALLBACK);
  });
});
