/** What damage inserts: bytes that parsers of HTTP and JSON treat specially. */
const PIECES = [
  ...[
    '\0',
    '\r',
    '\n',
    '\r\n',
    '\r\n\r\n',
    ' ',
    '\t',
    ':',
    ';',
    ',',
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
  ],
  ...['%00', '%0d%0a', '\x7f', '\x80', '\xff', '\xc0\x80', '\xed\xa0\x80', '__proto__', '\ufeff'],
  ...['Transfer-Encoding: chunked\r\n', 'Content-Length: 5\r\n', 'Content-Length: -1\r\n'],
  ...['Connection: close\r\n', 'Expect: 100-continue\r\n', '0\r\n\r\n', 'HTTP/1.0', 'HTTP/1.1'],
  ...['GET / HTTP/1.1\r\nHost: h\r\n\r\n', '99999999999999999999', '-1', 'null', '1e999'],
];

/** Changes a text in one to four places: bytes are replaced, inserted, removed or repeated. */
export function damage(text: string, random: () => number): string {
  let damaged = text;
  const changes = 1 + Math.floor(random() * 4);
  for (let n = 0; n < changes; n++) {
    const at = Math.floor(random() * (damaged.length + 1));
    const length = Math.floor(random() ** 3 * 40);
    const [before, after] = [damaged.slice(0, at), damaged.slice(at + length)];
    const piece = PIECES[Math.floor(random() * PIECES.length)] as string;
    const byte = String.fromCharCode(Math.floor(random() * 256));
    damaged = [
      () => before + byte + damaged.slice(at + 1),
      () => before + piece + damaged.slice(at),
      () => before + after,
      () => before + damaged.slice(at, at + length).repeat(2) + after,
      () => before,
    ][Math.floor(random() * 4.2)]?.() as string;
  }
  return damaged;
}
