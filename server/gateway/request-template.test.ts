import { describe, expect, test } from 'bun:test';
import { NO_HEAD, RequestTemplate, TemplateCache } from './viewer-request.ts';

const START = 'GET /x?interval=';
const MIDDLE = ' HTTP/1.1\r\nAuthorization: Bearer ';
const END = '\r\n\r\n';

interface RequestParts {
  /** Other bytes in the buffer before the request. */
  readonly before?: string;
  readonly interval?: string;
  readonly token?: string;
  readonly end?: string;
  readonly fingerprint?: number;
}

function templateOf({
  before = '',
  interval = '7',
  token = 't',
  end = END,
  fingerprint = 1,
}: RequestParts = {}) {
  const digitsAt = before.length + START.length;
  const digitsEnd = digitsAt + interval.length;
  const tokenAt = digitsEnd + MIDDLE.length;
  const tokenEnd = tokenAt + token.length;
  return new RequestTemplate({
    path: 'feed-read',
    streamId: '01234567-89ab-cdef-0123-456789abcdef',
    bytes: Buffer.from(before + START + interval + MIDDLE + token + end),
    fingerprint,
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
  ['from a request', templateOf()],
  [
    'from a request after another one',
    templateOf({ before: 'another', interval: '123', token: 'tok' }),
  ],
  ['compacted', templateOf({ before: 'another', interval: '123' }).compact()],
])('a template %s finds the variable parts of a request, and renders it again', (_, template) => {
  const bytes = template.render(7_000_000_001, 'a.b.c');
  expect(bytes.toString()).toBe(`${START}7000000001${MIDDLE}a.b.c${END}`);
  const match = newMatch();
  expect(template.matches(bytes, 0, match)).toBe(true);
  expect(match.interval).toBe(7_000_000_001);
  expect(bytes.toString('latin1', match.tokenAt, match.tokenEnd)).toBe('a.b.c');
  const shifted = Buffer.concat([Buffer.from('before'), bytes]);
  expect(template.matches(shifted, 0, newMatch())).toBe(false);
  expect(template.matches(shifted, 'before'.length, newMatch())).toBe(true);
});

test('a template matches no request with a changed or missing byte outside the variable parts', () => {
  const template = templateOf();
  const [digits, token] = [12, 'token'];
  const bytes = template.render(digits, token);
  const tokenAt = START.length + 2 + MIDDLE.length;
  const isVariable = (at: number) =>
    (at >= START.length && at < START.length + 2) || (at >= tokenAt && at < tokenAt + token.length);
  for (let at = 0; at < bytes.length; at++) {
    expect(template.matches(bytes.subarray(0, at), 0, newMatch())).toBe(false);
    if (isVariable(at)) continue;
    const changed = Buffer.from(bytes);
    changed[at] = (bytes[at] as number) ^ 1;
    expect([at, template.matches(changed, 0, newMatch())]).toEqual([at, false]);
  }
});

describe('TemplateCache.next', () => {
  test('returns one template, as the same object, for consecutive heads that are alike', () => {
    const cache = new TemplateCache();
    const first = cache.next(NO_HEAD, templateOf({ token: 'one' }));
    expect(first).toBe(1);
    const second = cache.next(first, templateOf({ interval: '8', token: 'two' }));
    expect((second as RequestTemplate).equals(templateOf())).toBe(true);
    expect(cache.next(1, templateOf({ token: 'three' }))).toBe(second);
    expect(cache.next(second, templateOf({ token: 'three' }))).toBe(second);
  });

  test('returns only a fingerprint when consecutive heads differ', () => {
    const cache = new TemplateCache();
    const alike = cache.next(1, templateOf());
    expect(typeof alike).toBe('object');
    expect(cache.next(alike, templateOf({ fingerprint: 2 }))).toBe(2);
    expect(cache.next(2, templateOf({ fingerprint: 1 }))).toBe(1);
  });

  test('returns a template that equals the request, when another has the same fingerprint', () => {
    const cache = new TemplateCache();
    const one = cache.next(1, templateOf());
    const other = cache.next(1, templateOf({ end: '\r\nX: y\r\n\r\n' }));
    expect((other as RequestTemplate).equals(one as RequestTemplate)).toBe(false);
    expect((other as RequestTemplate).equals(templateOf({ end: '\r\nX: y\r\n\r\n' }))).toBe(true);
  });

  test('returns only a fingerprint for a head above 2 KB without its token', () => {
    expect(new TemplateCache().next(1, templateOf({ end: 'x'.repeat(2_100) }))).toBe(1);
    expect(typeof new TemplateCache().next(1, templateOf({ token: 'x'.repeat(2_100) }))).toBe(
      'object',
    );
  });
});
