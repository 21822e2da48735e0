import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { FALLBACK, HEAD_BYTES_MAX, NEED_MORE, UNSUPPORTED_HEADERS } from './request-head.ts';
import { isTokenText, parseViewerRequest } from './viewer-request.ts';

const STREAM = '01234567-89ab-cdef-0123-456789abcdef';
const HEARTBEAT = `POST /api/v1/view-counts/${STREAM} HTTP/1.1`;
const READ = `GET /api/v1/events-streams/${STREAM}?interval=7000000001 HTTP/1.1`;
const TOKEN = 'eyJhbGciOiJFZERTQSJ9.eyJzZWF0IjoxfQ.c2lnbmF0dXJl-_';
const HOST = 'Host: fourbeat.example:4250';
const BEARER = `Authorization: Bearer ${TOKEN}`;

const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;

/** Parses as the gateway does when the token is not cached: it then checks the token's characters. */
function read(text: string, at = 0) {
  const request = parseViewerRequest(Buffer.from(text, 'latin1'), at);
  return typeof request === 'number' || isTokenText(request.token) ? request : FALLBACK;
}

describe('parseViewerRequest', () => {
  test.each([
    ['a heartbeat', [HEARTBEAT, HOST, BEARER], { path: 'heartbeat', interval: 0 }],
    [
      'a heartbeat with a trailing slash',
      [HEARTBEAT.replace(' HTTP', '/ HTTP'), HOST, BEARER],
      { path: 'heartbeat' },
    ],
    [
      'a heartbeat with a length of 0',
      [HEARTBEAT, HOST, 'content-length:0', BEARER],
      { path: 'heartbeat' },
    ],
    ['a read of an interval', [READ, BEARER, HOST], { path: 'feed-read', interval: 7_000_000_001 }],
    ['a read of interval 0', [READ.replace('7000000001', '0'), HOST, BEARER], { interval: 0 }],
    ['a read that accepts any type', [READ, HOST, 'Accept: */*', BEARER], { path: 'feed-read' }],
    ['an event stream', [READ, HOST, 'Accept: text/event-stream', BEARER], { path: 'feed-stream' }],
    [
      'an event stream that resumes',
      [READ, HOST, 'accept: text/event-stream', 'Last-Event-ID: 12', BEARER],
      { path: 'feed-stream', lastEventId: '12' },
    ],
    [
      'a request of a browser',
      [READ, HOST, 'Connection: Keep-Alive', BEARER, 'Cookie: a="b; c"', 'Origin: https://a.b'],
      { path: 'feed-read' },
    ],
    ['an IPv6 host', [HEARTBEAT, 'Host: [::1]:80', BEARER], { path: 'heartbeat' }],
  ])('[G-31] parses %s', (_, lines, expected) => {
    const text = head(...lines);
    const { template, ...request } = parsed(read(text));
    expect({ path: template.path, streamId: template.streamId, ...request }).toMatchObject({
      streamId: STREAM,
      token: TOKEN,
      end: text.length,
      ...expected,
    });
  });

  test('ends a request where the next one begins', () => {
    const first = head(HEARTBEAT, HOST, BEARER);
    const both = first + head(READ, HOST, BEARER);
    expect(parsed(read(both)).end).toBe(first.length);
    expect(parsed(read(both, first.length)).end).toBe(both.length);
  });

  test('parses the same request with headers that proxies add, in any order', () => {
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
        const { template, interval, token } = parsed(read(head(line, ...sent)));
        const plain = parsed(read(head(line, HOST, BEARER)));
        expect([template.path, template.streamId, interval, token]).toEqual([
          plain.template.path,
          plain.template.streamId,
          plain.interval,
          plain.token,
        ]);
      }),
    );
  });

  test('takes the token from Authorization when other headers contain it too', () => {
    const lines = [READ, HOST, `Cookie: ${BEARER}`, BEARER, `X-Note: ${TOKEN}`];
    const { template, interval } = parsed(read(head(...lines)));
    const other = template.render(interval, 'another').toString('latin1');
    expect(other).toBe(head(...lines.with(3, 'Authorization: Bearer another')));
  });
});

describe('parseViewerRequest falls back to the origin server for', () => {
  const withHeader = (line: string) => [HEARTBEAT, HOST, BEARER, line];
  test.each([
    ['another method', [HEARTBEAT.replace('POST', 'PUT'), HOST, BEARER]],
    ['HEAD', [READ.replace('GET', 'HEAD'), HOST, BEARER]],
    ['a method in lower case', [READ.replace('GET', 'get'), HOST, BEARER]],
    ['HTTP/1.0', [READ.replace('1.1', '1.0'), HOST, BEARER]],
    ['an absolute target', [READ.replace('/api', 'http://x/api'), HOST, BEARER]],
    ['a stream id in upper case', [HEARTBEAT.replace('abcdef', 'ABCDEF'), HOST, BEARER]],
    ['a percent-escape', [HEARTBEAT.replace('view', '%76iew'), HOST, BEARER]],
    ['a heartbeat with a query', [HEARTBEAT.replace(' HTTP', '?a=b HTTP'), HOST, BEARER]],
    ['two parameters', [READ.replace(' HTTP', '&a=b HTTP'), HOST, BEARER]],
    ['no interval', [READ.replace('?interval=7000000001', ''), HOST, BEARER]],
    ['an interval with a leading zero', [READ.replace('=7', '=07'), HOST, BEARER]],
    ['an interval that is too long', [READ.replace('=7', '=12345677'), HOST, BEARER]],
    [
      'an interval above the largest safe integer',
      [READ.replace(/\d{10} /, '9007199254740993 '), HOST, BEARER],
    ],
    ['two spaces in the request line', [READ.replace(' HTTP', '  HTTP'), HOST, BEARER]],
    ['no host', [READ, BEARER]],
    ['two hosts', [READ, HOST, HOST, BEARER]],
    ['an invalid host', [READ, 'Host: a b', BEARER]],
    ['no credentials', [READ, HOST]],
    ['two Authorization headers', [READ, HOST, BEARER, BEARER]],
    ['another scheme', [READ, HOST, `Authorization: Token ${TOKEN}`]],
    ['a scheme in lower case', [READ, HOST, BEARER.replace('Bearer', 'bearer')]],
    ['two spaces before the token', [READ, HOST, BEARER.replace('r e', 'r  e')]],
    ['two tokens in one header', [READ, HOST, `${BEARER} again`]],
    ['a body', withHeader('Content-Length: 5')],
    ['a length with a plus sign', withHeader('Content-Length: +0')],
    ['a list of lengths', withHeader('Content-Length: 0, 0')],
    ['a chunked body', withHeader('Transfer-Encoding: chunked')],
    ['an encoding that some parsers read as chunked', withHeader('Transfer-Encoding: xchunked')],
    ['an expectation', withHeader('Expect: 100-continue')],
    ['an upgrade', withHeader('Upgrade: websocket')],
    ['a connection that closes', withHeader('Connection: close')],
    ['a Connection header with two options', withHeader('Connection: keep-alive, te')],
    ['a condition', withHeader('If-None-Match: "1"')],
    ['a folded line', withHeader(' folded')],
    ['a space after a header name', withHeader('Content-Length : 5')],
    ['a tab after a header name', withHeader('Content-Length\t: 5')],
    ['an empty header name', withHeader(': 5')],
    ['a line without a colon', withHeader('nonsense')],
    ['a value with a trailing space', withHeader('X-A: b ')],
    ['a tab before a value', withHeader('X-A:\tb')],
    ['an empty value', withHeader('X-A:')],
    ['a NUL byte', withHeader('X-A: b\0c')],
    ['a non-ASCII byte', withHeader('X-A: \xfc')],
    ['a bare CR', withHeader('X-A: b\rContent-Length: 5')],
    ['a bare LF', withHeader('X-A: b\nContent-Length: 5')],
    ['the client header of a gateway', withHeader('X-Fourbeat-Client: x 10.0.0.1')],
  ])('[G-31] %s', (_, lines) => {
    expect(read(head(...lines))).toBe(FALLBACK);
  });

  test.each(UNSUPPORTED_HEADERS)('[G-31] the header %s, in any case', (name) => {
    for (const written of [name, name.toUpperCase()]) {
      expect(read(head(HEARTBEAT, HOST, BEARER, `${written}: x`))).toBe(FALLBACK);
    }
    expect(read(head(HEARTBEAT, HOST, BEARER, `${name}x: x`))).not.toBe(FALLBACK);
  });

  test.each([
    ['the start of TLS', '\x16\x03\x01\x02'],
    ['lines without CR', `${HEARTBEAT}\n${HOST}\n\n`],
    ['an empty line', `\r\n${HEARTBEAT}`],
    ['a head over the limit without an end', `${HEARTBEAT}\r\nX: ${'x'.repeat(HEAD_BYTES_MAX)}`],
    [
      'a complete head over the limit',
      head(HEARTBEAT, HOST, BEARER, `X: ${'x'.repeat(HEAD_BYTES_MAX)}`),
    ],
  ])('[G-31] %s, without waiting for more', (_, text) => {
    expect(read(text)).toBe(FALLBACK);
  });
});

test('[L-3] parseViewerRequest needs more bytes of any incomplete head', () => {
  const complete = head(READ, HOST, 'Accept: text/event-stream', BEARER);
  for (let length = 1; length < complete.length; length++) {
    expect([length, read(complete.slice(0, length))]).toEqual([length, NEED_MORE]);
  }
  expect(parsed(read(complete)).end).toBe(complete.length);
});

/** A second parser, as strict as RFC 9112 allows; null when the head does not conform. */
function parseStrictly(text: string) {
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

// Pieces to insert into valid heads: lines, and bytes that parsers disagree about.
const pieces = fc.constantFrom(
  ...[HOST, BEARER, 'Content-Length: 0', 'Content-Length: 5', 'content-length: 00', 'X-A: b'],
  ...['Transfer-Encoding: chunked', 'Connection: keep-alive', 'Accept: text/event-stream'],
  ...['\r', '\n', '\r\n', '\r\n\r\n', '\0', '\t', ' ', ':', '\xa0', '\x0b', '\x85'],
  ...[HEARTBEAT, READ, `${HEARTBEAT}\r\n${HOST}\r\n${BEARER}\r\n\r\n`],
);
const nearlyValidHead = fc
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

test('[G-31] parseViewerRequest agrees with a strict parser on every head that it accepts', () => {
  let parsedCount = 0;
  fc.assert(
    fc.property(nearlyValidHead, (text) => {
      const request = read(text);
      if (request === FALLBACK || request === NEED_MORE) return;
      parsedCount++;
      const expected = parseStrictly(text);
      expect(expected).not.toBeNull();
      const { path, streamId } = request.template;
      const isHeartbeat = path === 'heartbeat';
      expect(expected?.method).toBe(isHeartbeat ? 'POST' : 'GET');
      expect(expected?.target?.replace(/\/(?=\?|$)/, '')).toBe(
        isHeartbeat
          ? `/api/v1/view-counts/${streamId}`
          : `/api/v1/events-streams/${streamId}?interval=${request.interval}`,
      );
      expect(expected?.all('host')).toHaveLength(1);
      expect(expected?.all('authorization')).toEqual([`Bearer ${request.token}`]);
      expect(expected?.all('transfer-encoding')).toEqual([]);
      expect(['', '0']).toContain(expected?.all('content-length').join() ?? 'none');
      expect(request.end).toBe(expected?.end as number);
    }),
    { numRuns: 20_000 },
  );
  expect(parsedCount).toBeGreaterThan(500);
});

test('[G-31] parseViewerRequest reads a head that arrives in pieces like one in one piece', () => {
  let neededMore = 0;
  const texts = fc.tuple(nearlyValidHead, nearlyValidHead).map((heads) => heads.join(''));
  fc.assert(
    fc.property(texts, fc.array(fc.nat()), (text, cuts) => {
      const bytes = Buffer.from(text, 'latin1');
      const ends = cuts.map((cut) => cut % bytes.length).toSorted((a, b) => a - b);
      let checkedEnd = 0;
      for (const end of [...ends, bytes.length]) {
        const arrived = bytes.subarray(0, end);
        const request = parseViewerRequest(arrived, 0, checkedEnd);
        expect(request).toEqual(parseViewerRequest(arrived, 0));
        if (request !== NEED_MORE) return;
        neededMore++;
        checkedEnd = end;
      }
    }),
    { numRuns: 5_000 },
  );
  expect(neededMore).toBeGreaterThan(5_000);
});

test('[G-31] every request that a template matches parses to that template', () => {
  let matchCount = 0;
  const feedRequest = parsed(read(head(READ, HOST, BEARER, 'X-A: b')));
  const heartbeatRequest = parsed(read(head(HEARTBEAT, HOST, 'X-A: b', BEARER)));
  const token = fc.constantFrom(TOKEN, `${TOKEN}x`, `${TOKEN}\r\nContent-Length: 5`, '');
  const digits = fc.constantFrom('7000000001', '0', '01', '', '1'.repeat(17), '9007199254740993');
  const following = fc.constantFrom('', 'x', '\r\n', head(READ, HOST, BEARER, 'X-A: b'));
  fc.assert(
    fc.property(
      fc.boolean(),
      token,
      digits,
      following,
      nearlyValidHead,
      (isHeartbeat, sentToken, sentDigits, rest, nearlyValid) => {
        const matching = isHeartbeat
          ? head(HEARTBEAT, HOST, 'X-A: b', `Authorization: Bearer ${sentToken}`)
          : head(
              READ.replace('7000000001', sentDigits),
              HOST,
              `Authorization: Bearer ${sentToken}`,
              'X-A: b',
            );
        for (const text of [matching + rest, nearlyValid]) {
          const bytes = Buffer.from(text, 'latin1');
          const match = { interval: 0, tokenAt: 0, tokenEnd: 0 };
          const { template } = isHeartbeat ? heartbeatRequest : feedRequest;
          if (!template.matches(bytes, 0, match)) continue;
          // The gateway requires a cached token, which has no spaces and no line breaks.
          const matchedToken = text.slice(match.tokenAt, match.tokenEnd);
          if (!/^[!-~]+$/.test(matchedToken) || match.interval > Number.MAX_SAFE_INTEGER) continue;
          matchCount++;
          const request = parsed(parseViewerRequest(bytes, 0));
          expect(request.template.equals(template)).toBe(true);
          expect(request.end).toBe(bytes.length);
          expect(request.token).toBe(matchedToken);
          if (!isHeartbeat) expect(request.interval).toBe(match.interval);
          expect(template.render(request.interval, matchedToken).equals(bytes)).toBe(true);
        }
      },
    ),
    { numRuns: 5_000 },
  );
  expect(matchCount).toBeGreaterThan(200);
});

function parsed(request: ReturnType<typeof parseViewerRequest>) {
  if (typeof request === 'number') throw new Error(`a request was ${request}`);
  return request;
}
