import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseInterval } from '../../protocol/interval.ts';
import { FIELD, HeaderLines, IntervalNumber, RequestLine } from './request-head.ts';

const LINES = [
  'Host: fourbeat.example',
  'X-Forwarded-For: 203.0.113.7',
  'AUTHORIZATION: Bearer a.b.c',
  'Content-Length: 0',
];
const bytesOf = (lines: readonly string[]) => Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);

function parse(lines: readonly string[]) {
  const headers = new HeaderLines();
  const bytes = bytesOf(lines);
  expect(headers.read(bytes, 0)).toBe(bytes.length);
  return { headers, bytes };
}
const fingerprintOf = (lines: readonly string[]) => parse(lines).headers.fingerprint;

describe('HeaderLines', () => {
  test('finds fields by name in any case, from any offset', () => {
    const bytes = Buffer.concat([Buffer.from('GET'), bytesOf(LINES), Buffer.from('POST')]);
    const headers = new HeaderLines();
    expect(headers.read(bytes, 3)).toBe(bytes.length - 4);
    expect(headers.text(bytes, FIELD.host)).toBe('fourbeat.example');
    expect(headers.text(bytes, FIELD.authorization)).toBe('Bearer a.b.c');
    expect(headers.is(bytes, FIELD['content-length'], Buffer.from('0'))).toBe(true);
    expect(headers.is(bytes, FIELD['content-length'], Buffer.from('00'))).toBe(false);
    expect(headers.text(bytes, FIELD.accept)).toBeNull();
  });

  test('forgets the fields of one head when it reads the next', () => {
    const { headers } = parse(LINES);
    const bytes = bytesOf(['Accept: */*']);
    headers.read(bytes, 0);
    expect([headers.has(FIELD.accept), headers.has(FIELD.host)]).toEqual([true, false]);
    expect(headers.is(bytes, FIELD.host, Buffer.from(''))).toBe(false);
  });

  test('[G-31] rejects a field of FIELD that occurs twice, and accepts other fields twice', () => {
    for (const again of ['host: fourbeat.example', 'X-Request-Id: 2']) {
      const twice = bytesOf([...LINES, 'x-request-id: 1', again]);
      expect(new HeaderLines().read(twice, 0)).toBe(0);
    }
    const { headers, bytes } = parse([
      ...LINES,
      'X-Forwarded-For: 1',
      'X-Request-Id: 2',
      'x-forwarded-for: 3',
    ]);
    expect(headers.text(bytes, FIELD['x-request-id'])).toBe('2');
  });

  test('has equal fingerprints for heads that differ only in the token, and no others', () => {
    const fingerprint = fingerprintOf(LINES);
    expect(fingerprintOf(LINES.with(2, 'AUTHORIZATION: Bearer another'))).toBe(fingerprint);
    expect(fingerprintOf([...LINES].reverse())).not.toBe(fingerprint);
    for (const [index, line] of LINES.entries()) {
      if (index === 2) continue; // the token
      for (let at = 0; at < line.length; at++) {
        const letter = line.charCodeAt(at);
        if (/[: -]/.test(line[at] as string)) continue;
        const other = line.slice(0, at) + String.fromCharCode(letter + 1) + line.slice(at + 1);
        expect(fingerprintOf(LINES.with(index, other)), other).not.toBe(fingerprint);
      }
    }
  });
});

const ID = '01234567-89ab-cdef-0123-456789abcdef';

test.each([
  ['heartbeat', `POST /api/v1/view-counts/${ID}`],
  ['feed', `GET /api/v1/events-streams/${ID}?interval=7000000001`],
  ['feed', `GET /api/v1/events-streams/${ID}`],
  ['quiz-answer', `POST /api/v1/quizzes/${ID}/answer`],
  ['winners-report', `POST /api/v1/quizzes/${ID}/record-winner/`],
] as const)('RequestLine recognizes the fast path %s of the request %s', (path, request) => {
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
])('RequestLine recognizes no fast path of the request %s', (request) => {
  expect(new RequestLine().read(Buffer.from(`${request} HTTP/1.1\r\n`), 0)).toBe(0);
});

test('[F-6] IntervalNumber accepts the same numbers in bytes as parseInterval in a string', () => {
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
