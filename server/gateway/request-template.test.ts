import { describe, expect, test } from 'bun:test';
import { NO_HEAD, RequestTemplate, TemplateCache } from './request-template.ts';

const START = 'GET /x?interval=';
const MIDDLE = ' HTTP/1.1\r\nAuthorization: Bearer ';
const END = '\r\n\r\n';

interface Sent {
  readonly before?: string;
  readonly interval?: string;
  readonly token?: string;
  readonly end?: string;
  readonly print?: number;
}

/** Of a request as it came, behind others. */
function shapeOf({ before = '', interval = '7', token = 't', end = END, print = 1 }: Sent = {}) {
  const digitsAt = before.length + START.length;
  const digitsEnd = digitsAt + interval.length;
  const tokenAt = digitsEnd + MIDDLE.length;
  const tokenEnd = tokenAt + token.length;
  return new RequestTemplate({
    path: 'feed-read',
    streamId: '01234567-89ab-cdef-0123-456789abcdef',
    bytes: Buffer.from(before + START + interval + MIDDLE + token + end),
    fingerprint: print,
    at: before.length,
    digitsAt,
    digitsEnd,
    tokenAt,
    tokenEnd,
    end: tokenEnd + end.length,
  });
}

const newMatch = () => ({ interval: -1, tokenAt: -1, tokenEnd: -1 });

test.each([
  ['as it was read', shapeOf()],
  ['read behind another', shapeOf({ before: 'another', interval: '123', token: 'tok' })],
  ['apart from what was read', shapeOf({ before: 'another', interval: '123' }).compact()],
])("a shape finds what is a request's own, and makes the request again from it: %s", (_, shape) => {
  const bytes = shape.render(7_000_000_001, 'a.b.c');
  expect(bytes.toString()).toBe(`${START}7000000001${MIDDLE}a.b.c${END}`);
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
  const shape = shapeOf();
  const bytes = shape.render(12, 'token');
  const own = new Set([
    ...[0, 1].map((digit) => START.length + digit),
    ...[0, 1, 2, 3, 4].map((at) => START.length + 2 + MIDDLE.length + at),
  ]);
  for (let at = 0; at < bytes.length; at++) {
    expect(shape.matches(bytes.subarray(0, at), 0, newMatch())).toBe(false);
    if (own.has(at)) continue;
    const changed = Buffer.from(bytes);
    changed[at] = (bytes[at] as number) ^ 1;
    expect([at, shape.matches(changed, 0, newMatch())]).toEqual([at, false]);
  }
});

describe('what a connection remembers of its last head', () => {
  test('is its shape once two in a row were alike, which all have who send the same', () => {
    const shapes = new TemplateCache();
    const first = shapes.next(NO_HEAD, shapeOf({ token: 'one' }));
    expect(first).toBe(1);
    const second = shapes.next(first, shapeOf({ interval: '8', token: 'two' }));
    expect((second as RequestTemplate).equals(shapeOf())).toBe(true);
    expect(shapes.next(1, shapeOf({ token: 'three' }))).toBe(second);
    expect(shapes.next(second, shapeOf({ token: 'three' }))).toBe(second);
  });

  test('is no more than a number when each head is another, and a shape is given up then', () => {
    const shapes = new TemplateCache();
    const alike = shapes.next(1, shapeOf());
    expect(typeof alike).toBe('object');
    expect(shapes.next(alike, shapeOf({ print: 2 }))).toBe(2);
    expect(shapes.next(2, shapeOf({ print: 1 }))).toBe(1);
  });

  test('is the shape of what came, also when others have the same print', () => {
    const shapes = new TemplateCache();
    const one = shapes.next(1, shapeOf());
    const other = shapes.next(1, shapeOf({ end: '\r\nX: y\r\n\r\n' }));
    expect((other as RequestTemplate).equals(one as RequestTemplate)).toBe(false);
    expect((other as RequestTemplate).equals(shapeOf({ end: '\r\nX: y\r\n\r\n' }))).toBe(true);
  });

  test('is no shape of a head that is long', () => {
    expect(new TemplateCache().next(1, shapeOf({ end: 'x'.repeat(2_100) }))).toBe(1);
    expect(typeof new TemplateCache().next(1, shapeOf({ token: 'x'.repeat(2_100) }))).toBe(
      'object',
    );
  });
});
