import { expect, test } from 'bun:test';
import { Shape, type ShapeParts, Shapes } from './shape.ts';

const PARTS: ShapeParts = {
  kind: 'interval',
  streamId: '01234567-89ab-cdef-0123-456789abcdef',
  start: 'GET /x?interval=',
  middle: ' HTTP/1.1\r\nAuthorization: Bearer ',
  end: '\r\n\r\n',
};

const newMatch = () => ({ interval: -1, tokenAt: -1, tokenEnd: -1 });

test("a shape finds what is a request's own, and makes the request again from it", () => {
  const shape = new Shape(PARTS);
  const bytes = shape.requestOf(7_000_000_001, 'a.b.c');
  const found = newMatch();
  expect(shape.matches(bytes, 0, found)).toBe(true);
  expect(found.interval).toBe(7_000_000_001);
  expect(bytes.toString('latin1', found.tokenAt, found.tokenEnd)).toBe('a.b.c');
  const behind = Buffer.concat([Buffer.from('before'), bytes]);
  expect([shape.matches(behind, 0, newMatch()), shape.matches(behind, 6, newMatch())]).toEqual([
    false,
    true,
  ]);
});

test('no byte of it may be another, and none be missing', () => {
  const shape = new Shape(PARTS);
  const bytes = shape.requestOf(12, 'token');
  const own = new Set([
    ...[0, 1].map((digit) => PARTS.start.length + digit),
    ...[0, 1, 2, 3, 4].map((at) => PARTS.start.length + 2 + PARTS.middle.length + at),
  ]);
  for (let at = 0; at < bytes.length; at++) {
    expect(shape.matches(bytes.subarray(0, at), 0, newMatch())).toBe(false);
    if (own.has(at)) continue;
    const changed = Buffer.from(bytes);
    changed[at] = (bytes[at] as number) ^ 1;
    expect([at, shape.matches(changed, 0, newMatch())]).toEqual([at, false]);
  }
});

test('all who send the same have one shape; one that is long is kept by nobody', () => {
  const shapes = new Shapes();
  const first = new Shape(PARTS);
  expect(shapes.shared(first)).toBe(first);
  expect(shapes.shared(new Shape(PARTS))).toBe(first);
  const other = new Shape({ ...PARTS, end: '\r\nX: y\r\n\r\n' });
  expect(shapes.shared(other)).toBe(other);
  expect(shapes.shared(new Shape({ ...PARTS, end: 'x'.repeat(2_100) }))).toBeNull();
});
