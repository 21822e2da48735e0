/** Where a request ends, and how it may be passed on. */
export interface RequestFraming {
  /** Of the request line with its end, after which a header may be put; 0 when there is no such place. */
  readonly lineBytes: number;
  /** Of the head with its end; 0 when the request is so odd that its parts are not known. */
  readonly headBytes: number;
  /** Length in bytes; `unknown`: all that comes may belong to it. */
  readonly body: number | 'chunked' | 'unknown';
  /** Whether two servers can only agree on where it ends: then its connections serve further ones. */
  readonly isPlain: boolean;
  /** Whether its answer has no body whatever its head says. */
  readonly isHead: boolean;
}

// As bytes: a search for a text takes six times as long.
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const END_OF_LINE = Buffer.from('\r\n');

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";

// RFC 9112 without anything that it tolerates: no bare LF, no folded line, no space before a colon,
// no control character. Each repetition ends where nothing else can begin, so it takes linear time.
const STRICT_HEAD = new RegExp(
  `^(${TOKEN}) ([\\x21-\\x7e]+) HTTP/1\\.([01])\\r\\n(?:${TOKEN}:[\\t\\x20-\\x7e\\x80-\\xff]*\\r\\n)*\\r\\n$`,
);

// With the space after a value, which makes it an odd one: to look for where it begins would take
// quadratic time.
const TELLING_FIELD =
  /\r\n(content-length|transfer-encoding|connection|expect|upgrade|host):[\t ]*([^\r]*)/gi;

const METHODS_WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS']);
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

// One way to write a number, of which every sum is exact.
const LENGTH = /^(?:0|[1-9]\d{0,14})$/;

/** Reads how a request is framed. @param bytes begin with its head, if they have one at all */
export function framingOf(bytes: Buffer): RequestFraming {
  const headBytes = bytes.indexOf(END_OF_HEAD) + 4;
  if (headBytes < 4) return oddFraming(bytes);
  const head = bytes.toString('latin1', 0, headBytes);
  const [, method, target, minor] = STRICT_HEAD.exec(head) ?? [];
  if (!method || !target) return oddFraming(bytes);
  const fields = tellingFields(head);
  const body = bodyOf(fields, minor === '1');
  if (body === 'unknown') return oddFraming(bytes);
  return {
    lineBytes: head.indexOf('\r\n') + 2,
    headBytes,
    body,
    isPlain:
      minor === '1' &&
      target.startsWith('/') &&
      body !== 'chunked' &&
      (METHODS_WITH_BODY.has(method) || (METHODS_WITHOUT_BODY.has(method) && body === 0)) &&
      fields.hosts === 1 &&
      fields.isKept &&
      !fields.expects &&
      !fields.upgrades,
    isHead: method === 'HEAD',
  };
}

/** What the headers say that tell how a request is framed; values are in lower case. */
interface Fields {
  hosts: number;
  lengths: number;
  length: string;
  encodings: number;
  encoding: string;
  /** Whether nothing but `keep-alive` is said about the connection. */
  isKept: boolean;
  expects: boolean;
  upgrades: boolean;
}

function tellingFields(head: string): Fields {
  const fields: Fields = {
    hosts: 0,
    lengths: 0,
    length: '0',
    encodings: 0,
    encoding: '',
    isKept: true,
    expects: false,
    upgrades: false,
  };
  TELLING_FIELD.lastIndex = 0;
  for (;;) {
    const match = TELLING_FIELD.exec(head);
    if (!match) return fields;
    note(fields, match[1]?.toLowerCase() ?? '', match[2]?.toLowerCase() ?? '');
  }
}

function note(fields: Fields, name: string, value: string): void {
  switch (name) {
    case 'host':
      fields.hosts++;
      break;
    case 'content-length':
      fields.lengths++;
      fields.length = value;
      break;
    case 'transfer-encoding':
      fields.encodings++;
      fields.encoding = value;
      break;
    case 'connection':
      if (value !== 'keep-alive') fields.isKept = false;
      break;
    case 'expect':
      fields.expects = true;
      break;
    case 'upgrade':
      fields.upgrades = true;
  }
}

function bodyOf(fields: Fields, isNew: boolean): RequestFraming['body'] {
  const { lengths, length, encodings, encoding } = fields;
  if (encodings > 0) {
    const isChunked = isNew && encodings === 1 && encoding === 'chunked' && lengths === 0;
    return isChunked ? 'chunked' : 'unknown';
  }
  return lengths <= 1 && LENGTH.test(length) ? Number(length) : 'unknown';
}

// The inner server says what is wrong with it, if anything is.
function oddFraming(bytes: Buffer): RequestFraming {
  const lineEnd = bytes.indexOf(END_OF_LINE);
  return {
    lineBytes: lineEnd < 0 ? 0 : lineEnd + 2,
    headBytes: 0,
    body: 'unknown',
    isPlain: false,
    isHead: bytes.toString('latin1', 0, 5) === 'HEAD ',
  };
}
