/** The request that is hidden behind an odd one. */
export const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n';

const POST = 'POST /odd HTTP/1.1\r\nHost: h\r\n';

/** Odd requests, of which it is known where they end; another follows. */
export const ODD_WITH_END: [string, string][] = [
  ['two lengths alike', `${POST}Content-Length: 0\r\nContent-Length: 0\r\n\r\n${HIDDEN}`],
  ['a length with zeros before', `${POST}Content-Length: 00\r\n\r\n${HIDDEN}`],
  ['a length and space', `${POST}Content-Length: 0 \t\r\n\r\n${HIDDEN}`],
  ['chunks', `${POST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`],
  ['chunks that are none', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n${HIDDEN}`],
  [
    'a chunk whose end is not there',
    `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n${HIDDEN}`,
  ],
  ['a chunk that ends by LF', `${POST}Transfer-Encoding: chunked\r\n\r\n0\n\n${HIDDEN}`],
  ['trailers', `${POST}Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n${HIDDEN}`],
  ['trailers that are a request', `${POST}Transfer-Encoding: chunked\r\n\r\n0\r\n${HIDDEN}`],
  ['no host', `POST /odd HTTP/1.1\r\nContent-Length: 0\r\n\r\n${HIDDEN}`],
  ['two hosts', `${POST}Host: i\r\n\r\n${HIDDEN}`],
  ['GET with a body', `GET /odd HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello${HIDDEN}`],
  ['HEAD with a body', `HEAD /odd HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello${HIDDEN}`],
  ['a method that is none of ours', `BREW /odd HTTP/1.1\r\nHost: h\r\n\r\n${HIDDEN}`],
  ['a tunnel', `CONNECT odd:1 HTTP/1.1\r\nHost: h\r\n\r\n${HIDDEN}`],
  ['a whole address', `GET http://h/odd HTTP/1.1\r\nHost: h\r\n\r\n${HIDDEN}`],
  ['a path with other letters', `GET /odd\xff HTTP/1.1\r\nHost: h\r\n\r\n${HIDDEN}`],
  ['the version of old', `GET /odd HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n${HIDDEN}`],
  ['Connection: close', `GET /odd HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n${HIDDEN}`],
  [
    'a header of hops',
    `GET /odd HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, X-Fourbeat-Client\r\n\r\n${HIDDEN}`,
  ],
  ['Expect', `${POST}Expect: 100-continue\r\nContent-Length: 0\r\n\r\n${HIDDEN}`],
  [
    'Upgrade',
    `GET /odd HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n${HIDDEN}`,
  ],
];

/** Odd requests, of which not every server says alike where they end. */
export const ODD_WITHOUT_END: [string, string][] = [
  ['two lengths that differ', `${POST}Content-Length: 0\r\nContent-Length: 33\r\n\r\n${HIDDEN}`],
  ['a list of lengths', `${POST}Content-Length: 0, 0\r\n\r\n${HIDDEN}`],
  ['a length with a sign', `${POST}Content-Length: +0\r\n\r\n${HIDDEN}`],
  ['a length below 0', `${POST}Content-Length: -1\r\n\r\n${HIDDEN}`],
  ['a length in hexadecimal', `${POST}Content-Length: 0x0\r\n\r\n${HIDDEN}`],
  ['an empty length', `${POST}Content-Length:\r\n\r\n${HIDDEN}`],
  ['a length and a space of no break', `${POST}Content-Length: 0\xa0\r\n\r\n${HIDDEN}`],
  ['a length beyond all numbers', `${POST}Content-Length: 18446744073709551616\r\n\r\n${HIDDEN}`],
  [
    'length and chunks',
    `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  ],
  [
    'chunks and length',
    `${POST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${HIDDEN}`,
  ],
  ['chunks twice', `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n${HIDDEN}`],
  [
    'chunks and identity',
    `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${HIDDEN}`,
  ],
  ['an encoding that is none', `${POST}Transfer-Encoding: xchunked\r\n\r\n${HIDDEN}`],
  [
    'chunks in HTTP/1.0',
    `POST /odd HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  ],
  ['space before the colon', `${POST}Content-Length : 0\r\n\r\n${HIDDEN}`],
  ['space before a name', `${POST} Content-Length: 0\r\n\r\n${HIDDEN}`],
  ['a folded line', `${POST}X: y\r\n Content-Length: 33\r\n\r\n${HIDDEN}`],
  ['a header ended by LF', `${POST}X: y\nContent-Length: 33\r\n\r\n${HIDDEN}`],
  ['a header ended by CR', `${POST}X: y\rContent-Length: 33\r\n\r\n${HIDDEN}`],
  ['NUL in a header', `${POST}X: \0\r\n\r\n${HIDDEN}`],
  ['a line without a colon', `${POST}nonsense\r\n\r\n${HIDDEN}`],
  ['a name that is none', `${POST}X(y): z\r\n\r\n${HIDDEN}`],
  ['a name with other letters', `${POST}Content-L\xe9ngth: 3\r\n\r\n${HIDDEN}`],
  ['two spaces', `GET  /odd HTTP/1.1\r\nHost: h\r\n\r\n${HIDDEN}`],
  ['another version', `GET /odd HTTP/1.2\r\nHost: h\r\n\r\n${HIDDEN}`],
  ['no HTTP', `hello\r\n\r\n${HIDDEN}`],
];

export const ODD = [...ODD_WITH_END, ...ODD_WITHOUT_END];
