import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseInterval } from '../../protocol/interval.ts';
import { IntervalNumber, RequestLine } from './request-classifier.ts';

const ID = '01234567-89ab-cdef-0123-456789abcdef';

test.each([
  ['heartbeat', `POST /api/v1/view-counts/${ID}`],
  ['feed', `GET /api/v1/events-streams/${ID}?interval=7000000001`],
  ['feed', `GET /api/v1/events-streams/${ID}`],
  ['quiz-answer', `POST /api/v1/quizzes/${ID}/answer`],
  ['winners-report', `POST /api/v1/quizzes/${ID}/record-winner/`],
] as const)('RequestLine gives %s the request %s', (path, request) => {
  const line = new RequestLine();
  const bytes = Buffer.from(`before${request} HTTP/1.1\r\n`);
  expect(line.read(bytes, 6)).toBe(bytes.length);
  expect(line.path).toBe(path);
  expect(bytes.toString('latin1', line.idAt, line.idAt + ID.length)).toBe(ID);
});

test.each([
  `GET /api/v1/view-counts/${ID}`,
  `POST /api/v1/events-streams/${ID}`,
  `GET /api/v1/quizzes/${ID}/answer`,
  `POST /api/v1/quizzes/${ID}`,
  `POST /api/v1/quizzes/${ID}/answer?interval=1`,
  'POST /api/v1/token',
  'GET /',
])('RequestLine gives no fast path the request %s', (request) => {
  expect(new RequestLine().read(Buffer.from(`${request} HTTP/1.1\r\n`), 0)).toBe(0);
});

test('[F-6] IntervalNumber reads the same numbers in a request as parseInterval in a text', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 18 });
  const numbers = fc.oneof(digits, fc.maxSafeNat().map(String));
  const number = new IntervalNumber();
  fc.assert(
    fc.property(numbers, (text) => {
      const isNumber = number.read(Buffer.from(`=${text} HTTP`), 1);
      const expected = parseInterval(text);
      expect(isNumber).toBe(!Number.isNaN(expected));
      if (isNumber) expect([number.value, number.end]).toEqual([expected, 1 + text.length]);
    }),
    { numRuns: 2_000 },
  );
});
