/** The request that is smuggled after an unusual one. */
export const SMUGGLED = 'GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n';

const POST = 'POST /odd HTTP/1.1\r\nHost: h\r\n';

/** Unusual requests whose end is well defined, each followed by the smuggled request. */
export const UNUSUAL_WITH_KNOWN_END: [string, string][] = [
  ['a length with leading zeros', `${POST}Content-Length: 00\r\n\r\n${SMUGGLED}`],
  ['a length with trailing space', `${POST}Content-Length: 0 \t\r\n\r\n${SMUGGLED}`],
  ['a chunked body', `${POST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['an invalid chunk size', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n${SMUGGLED}`],
  [
    'a chunk that is longer than its size',
    `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  ['a chunk that ends by LF', `${POST}Transfer-Encoding: chunked\r\n\r\n0\n\n${SMUGGLED}`],
  ['trailers', `${POST}Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n${SMUGGLED}`],
  [
    'trailers that look like a request',
    `${POST}Transfer-Encoding: chunked\r\n\r\n0\r\n${SMUGGLED}`,
  ],
  ['no host', `POST /odd HTTP/1.1\r\nContent-Length: 0\r\n\r\n${SMUGGLED}`],
  ['GET with a body', `GET /odd HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello${SMUGGLED}`],
  [
    'HEAD with a body',
    `HEAD /odd HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello${SMUGGLED}`,
  ],
  ['an unknown method', `BREW /odd HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`],
  ['CONNECT', `CONNECT odd:1 HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`],
  ['an absolute target', `GET http://h/odd HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`],
  ['a path with a non-ASCII byte', `GET /odd\xff HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`],
  ['HTTP/1.0', `GET /odd HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n${SMUGGLED}`],
  ['Connection: close', `GET /odd HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n${SMUGGLED}`],
  [
    'Connection with the name of another header',
    `GET /odd HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, X-Fourbeat-Client\r\n\r\n${SMUGGLED}`,
  ],
  ['Expect', `${POST}Expect: 100-continue\r\nContent-Length: 0\r\n\r\n${SMUGGLED}`],
  [
    'Upgrade',
    `GET /odd HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n${SMUGGLED}`,
  ],
];

/** Unusual requests whose end servers disagree about, each followed by the smuggled request. */
export const UNUSUAL_WITH_UNKNOWN_END: [string, string][] = [
  ['two equal lengths', `${POST}Content-Length: 0\r\nContent-Length: 0\r\n\r\n${SMUGGLED}`],
  ['two lengths that differ', `${POST}Content-Length: 0\r\nContent-Length: 33\r\n\r\n${SMUGGLED}`],
  ['a list of lengths', `${POST}Content-Length: 0, 0\r\n\r\n${SMUGGLED}`],
  ['a length with a plus sign', `${POST}Content-Length: +0\r\n\r\n${SMUGGLED}`],
  ['a negative length', `${POST}Content-Length: -1\r\n\r\n${SMUGGLED}`],
  ['a length in hexadecimal', `${POST}Content-Length: 0x0\r\n\r\n${SMUGGLED}`],
  ['an empty length', `${POST}Content-Length:\r\n\r\n${SMUGGLED}`],
  ['a length with a no-break space', `${POST}Content-Length: 0\xa0\r\n\r\n${SMUGGLED}`],
  ['a length above 2^64', `${POST}Content-Length: 18446744073709551616\r\n\r\n${SMUGGLED}`],
  [
    'a length before a chunked encoding',
    `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  [
    'a chunked encoding before a length',
    `${POST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  [
    'chunked twice in one header',
    `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  [
    'chunked and identity in two headers',
    `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  ['an unknown encoding', `${POST}Transfer-Encoding: xchunked\r\n\r\n${SMUGGLED}`],
  [
    'a chunked body in HTTP/1.0',
    `POST /odd HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  ['a space before the colon', `${POST}Content-Length : 0\r\n\r\n${SMUGGLED}`],
  ['a space before a header name', `${POST} Content-Length: 0\r\n\r\n${SMUGGLED}`],
  ['a folded line', `${POST}X: y\r\n Content-Length: 33\r\n\r\n${SMUGGLED}`],
  ['a header that ends with LF', `${POST}X: y\nContent-Length: 33\r\n\r\n${SMUGGLED}`],
  ['a header that ends with CR', `${POST}X: y\rContent-Length: 33\r\n\r\n${SMUGGLED}`],
  ['NUL in a header', `${POST}X: \0\r\n\r\n${SMUGGLED}`],
  ['a line without a colon', `${POST}nonsense\r\n\r\n${SMUGGLED}`],
  ['an invalid header name', `${POST}X(y): z\r\n\r\n${SMUGGLED}`],
  ['a header name with a non-ASCII byte', `${POST}Content-L\xe9ngth: 3\r\n\r\n${SMUGGLED}`],
  ['two spaces in the request line', `GET  /odd HTTP/1.1\r\nHost: h\r\n\r\n${SMUGGLED}`],
  ['HTTP/1.2', `GET /odd HTTP/1.2\r\nHost: h\r\n\r\n${SMUGGLED}`],
  ['bytes that are not HTTP', `hello\r\n\r\n${SMUGGLED}`],
];

export const UNUSUAL_REQUESTS = [...UNUSUAL_WITH_KNOWN_END, ...UNUSUAL_WITH_UNKNOWN_END];
