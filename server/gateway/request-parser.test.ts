import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { UNSUPPORTED_HEADERS } from './header-lines.ts';
import {
  FALLBACK,
  HEAD_BYTES_MAX,
  isTokenText,
  NEED_MORE,
  parseViewerRequest,
} from './request-parser.ts';

const STREAM = '01234567-89ab-cdef-0123-456789abcdef';
const HEARTBEAT = `POST /api/v1/view-counts/${STREAM} HTTP/1.1`;
const READ = `GET /api/v1/events-streams/${STREAM}?interval=7000000001 HTTP/1.1`;
const TOKEN = 'eyJhbGciOiJFZERTQSJ9.eyJzZWF0IjoxfQ.c2lnbmF0dXJl-_';
const HOST = 'Host: fourbeat.example:4250';
const BEARER = `Authorization: Bearer ${TOKEN}`;

const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;

/** As a front does with a token that nobody knows. */
function read(text: string, at = 0) {
  const request = parseViewerRequest(Buffer.from(text, 'latin1'), at);
  return typeof request === 'number' || isTokenText(request.token) ? request : FALLBACK;
}

describe('a head that is read', () => {
  test.each([
    ['a heartbeat', [HEARTBEAT, HOST, BEARER], { path: 'heartbeat', interval: 0 }],
    ['with a slash', [HEARTBEAT.replace(' HTTP', '/ HTTP'), HOST, BEARER], { path: 'heartbeat' }],
    ['of no length', [HEARTBEAT, HOST, 'content-length:0', BEARER], { path: 'heartbeat' }],
    ['an interval', [READ, BEARER, HOST], { path: 'feed-read', interval: 7_000_000_001 }],
    ['interval 0', [READ.replace('7000000001', '0'), HOST, BEARER], { interval: 0 }],
    ['any type', [READ, HOST, 'Accept: */*', BEARER], { path: 'feed-read' }],
    ['a stream', [READ, HOST, 'Accept: text/event-stream', BEARER], { path: 'feed-stream' }],
    [
      'a stream that goes on',
      [READ, HOST, 'accept: text/event-stream', 'Last-Event-ID: 12', BEARER],
      { path: 'feed-stream', lastEventId: '12' },
    ],
    [
      "a browser's",
      [READ, HOST, 'Connection: Keep-Alive', BEARER, 'Cookie: a="b; c"', 'Origin: https://a.b'],
      { path: 'feed-read' },
    ],
    ['IPv6', [HEARTBEAT, 'Host: [::1]:80', BEARER], { path: 'heartbeat' }],
  ])('[G-31] %s', (_, lines, expected) => {
    const text = head(...lines);
    const { template, ...request } = hot(read(text));
    expect({ path: template.path, streamId: template.streamId, ...request }).toMatchObject({
      streamId: STREAM,
      token: TOKEN,
      end: text.length,
      ...expected,
    });
  });

  test('is read where it begins, up to where the next one does', () => {
    const first = head(HEARTBEAT, HOST, BEARER);
    const both = first + head(READ, HOST, BEARER);
    expect(hot(read(both)).end).toBe(first.length);
    expect(hot(read(both, first.length)).end).toBe(both.length);
  });

  test('is read with whatever proxies add, in any order, and says the same', () => {
    const added = [
      'X-Forwarded-For: 203.0.113.7, 198.51.100.2:5678',
      'X-Forwarded-Proto: https',
      'X-Real-IP: 2001:db8::1',
      'Forwarded: for="[2001:db8::1]:443";proto=https',
      'X-Request-ID: 6f1c9f0e-51d2-4c6e-9a1f-0a6c1d2e3f40',
      'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      'Via: 1.1 edge (a proxy)',
    ];
    const lines = fc.shuffledSubarray([HOST, BEARER, ...added], { minLength: 2 });
    fc.assert(
      fc.property(lines, fc.constantFrom(HEARTBEAT, READ), (sent, line) => {
        fc.pre(sent.includes(HOST) && sent.includes(BEARER));
        const { template, interval, token } = hot(read(head(line, ...sent)));
        const plain = hot(read(head(line, HOST, BEARER)));
        expect([template.path, template.streamId, interval, token]).toEqual([
          plain.template.path,
          plain.template.streamId,
          plain.interval,
          plain.token,
        ]);
      }),
    );
  });

  test('its token is that of the credential, wherever else those letters are', () => {
    const lines = [READ, HOST, `Cookie: ${BEARER}`, BEARER, `X-Note: ${TOKEN}`];
    const { template, interval } = hot(read(head(...lines)));
    const other = template.render(interval, 'another').toString('latin1');
    expect(other).toBe(head(...lines.with(3, 'Authorization: Bearer another')));
  });
});

describe("somebody else's", () => {
  const withHeader = (line: string) => [HEARTBEAT, HOST, BEARER, line];
  test.each([
    ['another method', [HEARTBEAT.replace('POST', 'PUT'), HOST, BEARER]],
    ['HEAD', [READ.replace('GET', 'HEAD'), HOST, BEARER]],
    ['a method in lower case', [READ.replace('GET', 'get'), HOST, BEARER]],
    ['HTTP/1.0', [READ.replace('1.1', '1.0'), HOST, BEARER]],
    ['an absolute target', [READ.replace('/api', 'http://x/api'), HOST, BEARER]],
    ['a stream in capitals', [HEARTBEAT.replace('abcdef', 'ABCDEF'), HOST, BEARER]],
    ['a percent-escape', [HEARTBEAT.replace('view', '%76iew'), HOST, BEARER]],
    ['a query of a heartbeat', [HEARTBEAT.replace(' HTTP', '?a=b HTTP'), HOST, BEARER]],
    ['two parameters', [READ.replace(' HTTP', '&a=b HTTP'), HOST, BEARER]],
    ['no interval', [READ.replace('?interval=7000000001', ''), HOST, BEARER]],
    ['an interval with a zero before', [READ.replace('=7', '=07'), HOST, BEARER]],
    ['an interval that is too long', [READ.replace('=7', '=12345677'), HOST, BEARER]],
    ['an interval that is not safe', [READ.replace(/\d{10} /, '9007199254740993 '), HOST, BEARER]],
    ['two spaces in the request line', [READ.replace(' HTTP', '  HTTP'), HOST, BEARER]],
    ['no host', [READ, BEARER]],
    ['two hosts', [READ, HOST, HOST, BEARER]],
    ['a host that is none', [READ, 'Host: a b', BEARER]],
    ['no credential', [READ, HOST]],
    ['two credentials', [READ, HOST, BEARER, BEARER]],
    ['another scheme', [READ, HOST, `Authorization: Token ${TOKEN}`]],
    ['a scheme in lower case', [READ, HOST, BEARER.replace('Bearer', 'bearer')]],
    ['two spaces before the token', [READ, HOST, BEARER.replace('r e', 'r  e')]],
    ['two tokens', [READ, HOST, `${BEARER} again`]],
    ['a body', withHeader('Content-Length: 5')],
    ['a length that is odd', withHeader('Content-Length: +0')],
    ['two lengths in one', withHeader('Content-Length: 0, 0')],
    ['a body in chunks', withHeader('Transfer-Encoding: chunked')],
    ['what some parser takes for chunks', withHeader('Transfer-Encoding: xchunked')],
    ['an expectation', withHeader('Expect: 100-continue')],
    ['an upgrade', withHeader('Upgrade: websocket')],
    ['a connection that closes', withHeader('Connection: close')],
    ['a connection with more', withHeader('Connection: keep-alive, te')],
    ['a condition', withHeader('If-None-Match: "1"')],
    ['a folded line', withHeader(' folded')],
    ['a name with a space behind', withHeader('Content-Length : 5')],
    ['a name with a tab behind', withHeader('Content-Length\t: 5')],
    ['no name', withHeader(': 5')],
    ['no colon', withHeader('nonsense')],
    ['a value with a space behind', withHeader('X-A: b ')],
    ['a tab', withHeader('X-A:\tb')],
    ['an empty value', withHeader('X-A:')],
    ['NUL', withHeader('X-A: b\0c')],
    ['a letter beyond ASCII', withHeader('X-A: \xfc')],
    ['a bare CR', withHeader('X-A: b\rContent-Length: 5')],
    ['a bare LF', withHeader('X-A: b\nContent-Length: 5')],
    ["a front's word about who asks", withHeader('X-Fourbeat-Client: x 10.0.0.1')],
  ])('[G-31] %s', (_, lines) => {
    expect(read(head(...lines))).toBe(FALLBACK);
  });

  test.each(UNSUPPORTED_HEADERS)('[G-31] %s, in any case of its letters', (name) => {
    for (const written of [name, name.toUpperCase()]) {
      expect(read(head(HEARTBEAT, HOST, BEARER, `${written}: x`))).toBe(FALLBACK);
    }
    expect(read(head(HEARTBEAT, HOST, BEARER, `${name}x: x`))).not.toBe(FALLBACK);
  });

  test.each([
    ['the start of TLS', '\x16\x03\x01\x02'],
    ['lines without CR', `${HEARTBEAT}\n${HOST}\n\n`],
    ['an empty line', `\r\n${HEARTBEAT}`],
    ['a head that is too long', `${HEARTBEAT}\r\nX: ${'x'.repeat(HEAD_BYTES_MAX)}`],
    [
      'one that is too long and ends',
      head(HEARTBEAT, HOST, BEARER, `X: ${'x'.repeat(HEAD_BYTES_MAX)}`),
    ],
  ])('[G-31] %s, at once', (_, text) => {
    expect(read(text)).toBe(FALLBACK);
  });
});

test('[L-3] a part of a head may become one, wherever it ends', () => {
  const whole = head(READ, HOST, 'Accept: text/event-stream', BEARER);
  for (let length = 1; length < whole.length; length++) {
    expect([length, read(whole.slice(0, length))]).toEqual([length, NEED_MORE]);
  }
  expect(hot(read(whole)).end).toBe(whole.length);
});

/** What RFC 9112 has a recipient read, in its strictest form; null for anything that is not just that. */
function readByTheBook(text: string) {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [line = '', ...fields] = text.slice(0, end).split('\r\n');
  const request = /^([A-Z]+) (\/[!-~]*) HTTP\/1\.1$/.exec(line);
  const headers: [string, string][] = [];
  for (const field of fields) {
    const colon = field.indexOf(':');
    const name = field.slice(0, Math.max(colon, 0)).toLowerCase();
    const value = field.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '');
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) || !/^[\t -~]*$/.test(value)) return null;
    headers.push([name, value]);
  }
  const all = (name: string) => headers.flatMap(([key, value]) => (key === name ? [value] : []));
  return request && { method: request[1], target: request[2], all, end: end + 4 };
}

// Pieces of which heads are made that are nearly right, and the bytes that parsers differ about.
const pieces = fc.constantFrom(
  ...[HOST, BEARER, 'Content-Length: 0', 'Content-Length: 5', 'content-length: 00', 'X-A: b'],
  ...['Transfer-Encoding: chunked', 'Connection: keep-alive', 'Accept: text/event-stream'],
  ...['\r', '\n', '\r\n', '\r\n\r\n', '\0', '\t', ' ', ':', '\xa0', '\x0b', '\x85'],
  ...[HEARTBEAT, READ, `${HEARTBEAT}\r\n${HOST}\r\n${BEARER}\r\n\r\n`],
);
const nearly = fc
  .tuple(
    fc.constantFrom(HEARTBEAT, READ),
    fc.shuffledSubarray([HOST, BEARER, 'Content-Length: 0', 'Accept: */*'], { minLength: 2 }),
    fc.array(fc.tuple(fc.nat(), pieces), { maxLength: 3 }),
  )
  .map(([line, fields, inserts]) =>
    inserts.reduce(
      (text, [at, piece]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + piece + text.slice(place);
      },
      head(line, ...fields),
    ),
  );

test('[G-31] whatever is read says the same by the book: one host, one token, no body, the same end', () => {
  let taken = 0;
  fc.assert(
    fc.property(nearly, (text) => {
      const request = read(text);
      if (request === FALLBACK || request === NEED_MORE) return;
      taken++;
      const book = readByTheBook(text);
      expect(book).not.toBeNull();
      const { path, streamId } = request.template;
      const isHeartbeat = path === 'heartbeat';
      expect(book?.method).toBe(isHeartbeat ? 'POST' : 'GET');
      expect(book?.target?.replace(/\/(?=\?|$)/, '')).toBe(
        isHeartbeat
          ? `/api/v1/view-counts/${streamId}`
          : `/api/v1/events-streams/${streamId}?interval=${request.interval}`,
      );
      expect(book?.all('host')).toHaveLength(1);
      expect(book?.all('authorization')).toEqual([`Bearer ${request.token}`]);
      expect(book?.all('transfer-encoding')).toEqual([]);
      expect(['', '0']).toContain(book?.all('content-length').join() ?? 'none');
      expect(request.end).toBe(book?.end as number);
    }),
    { numRuns: 20_000 },
  );
  expect(taken).toBeGreaterThan(500);
});

test('[G-31] what has the bytes of a shape is what a reading of it says, and nothing else matches', () => {
  let matched = 0;
  const origin = hot(read(head(READ, HOST, BEARER, 'X-A: b')));
  const beat = hot(read(head(HEARTBEAT, HOST, 'X-A: b', BEARER)));
  const token = fc.constantFrom(TOKEN, `${TOKEN}x`, `${TOKEN}\r\nContent-Length: 5`, '');
  const digits = fc.constantFrom('7000000001', '0', '01', '', '1'.repeat(17), '9007199254740993');
  const behind = fc.constantFrom('', 'x', '\r\n', head(READ, HOST, BEARER, 'X-A: b'));
  fc.assert(
    fc.property(fc.boolean(), token, digits, behind, nearly, (isBeat, sent, number, rest, odd) => {
      const own = isBeat
        ? head(HEARTBEAT, HOST, 'X-A: b', `Authorization: Bearer ${sent}`)
        : head(READ.replace('7000000001', number), HOST, `Authorization: Bearer ${sent}`, 'X-A: b');
      for (const text of [own + rest, odd]) {
        const bytes = Buffer.from(text, 'latin1');
        const found = { interval: 0, tokenAt: 0, tokenEnd: 0 };
        const { template } = isBeat ? beat : origin;
        if (!template.matches(bytes, 0, found)) continue;
        // Only a token that is known is one: it has neither blanks nor ends of lines.
        const known = text.slice(found.tokenAt, found.tokenEnd);
        if (!/^[!-~]+$/.test(known) || found.interval > Number.MAX_SAFE_INTEGER) continue;
        matched++;
        const request = hot(parseViewerRequest(bytes, 0));
        expect(request.template.equals(template)).toBe(true);
        expect(request.end).toBe(bytes.length);
        expect(request.token).toBe(known);
        if (!isBeat) expect(request.interval).toBe(found.interval);
        expect(template.render(request.interval, known).equals(bytes)).toBe(true);
      }
    }),
    { numRuns: 5_000 },
  );
  expect(matched).toBeGreaterThan(200);
});

function hot(request: ReturnType<typeof parseViewerRequest>) {
  if (typeof request === 'number') throw new Error(`a request was ${request}`);
  return request;
}
