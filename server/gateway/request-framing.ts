import { HEAD_BYTES_MAX } from './request-head.ts';

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
  `^(${TOKEN}) ([\\x21-\\x7e\\x80-\\xff]+) HTTP/1\\.([01])\\r\\n(?:${TOKEN}:[\\t\\x20-\\x7e\\x80-\\xff]*\\r\\n)*\\r\\n$`,
);

// With the space after a value: to look for where it begins by a pattern takes quadratic time.
const TELLING_FIELD =
  /\r\n(content-length|transfer-encoding|connection|expect|upgrade|host):[\t ]*([^\r]*)/gi;

const PLAIN_TARGET = /^\/[\x21-\x7e]*$/;

const METHODS_WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS']);
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

// Every sum of them is exact.
const LENGTH = /^\d{1,15}$/;
// One way to write each.
const PLAIN_LENGTH = /^(?:0|[1-9]\d*)$/;

/** Reads how a request is framed. @param bytes begin with its head, if they have one at all */
export function framingOf(bytes: Buffer): RequestFraming {
  const headBytes = bytes.indexOf(END_OF_HEAD) + 4;
  // The origin server takes no such head; to match it would take 38 ms for 500 KB.
  if (headBytes < 4 || headBytes > HEAD_BYTES_MAX) return oddFraming(bytes);
  const head = bytes.toString('latin1', 0, headBytes);
  const match = STRICT_HEAD.exec(head);
  if (!match) return oddFraming(bytes);
  const method = match[1] as string;
  const isNew = match[3] === '1';
  const fields = tellingFields(head);
  const body = bodyOf(fields, isNew);
  if (body === 'unknown') return oddFraming(bytes);
  return {
    lineBytes: head.indexOf('\r\n') + 2,
    headBytes,
    body,
    isPlain:
      isNew &&
      PLAIN_TARGET.test(match[2] as string) &&
      body !== 'chunked' &&
      (METHODS_WITH_BODY.has(method) || (METHODS_WITHOUT_BODY.has(method) && body === 0)) &&
      fields.hosts === 1 &&
      !fields.isOdd,
    isHead: method === 'HEAD',
  };
}

/** What the headers say that tell how a request is framed. */
interface Fields {
  hosts: number;
  length: string | null;
  /** In lower case. */
  encoding: string | null;
  /** Whether two lengths or encodings may mean different things. */
  areAtOdds: boolean;
  /** Whether there is anything that not every server need take alike. */
  isOdd: boolean;
}

function tellingFields(head: string): Fields {
  const fields = { hosts: 0, length: null, encoding: null, areAtOdds: false, isOdd: false };
  TELLING_FIELD.lastIndex = 0;
  for (;;) {
    const match = TELLING_FIELD.exec(head);
    if (!match) return fields;
    note(fields, match[1] as string, match[2] as string);
  }
}

// Names are told apart by their lengths, which no two share.
function note(fields: Fields, name: string, spaced: string): void {
  const value = withoutSpaceBehind(spaced);
  if (value.length < spaced.length) fields.isOdd = true;
  switch (name.length) {
    case 'host'.length:
      fields.hosts++;
      break;
    case 'content-length'.length:
      if (fields.length !== null || !PLAIN_LENGTH.test(value)) fields.isOdd = true;
      if (fields.length !== null && fields.length !== value) fields.areAtOdds = true;
      fields.length = value;
      break;
    case 'transfer-encoding'.length:
      if (fields.encoding !== null) fields.areAtOdds = true;
      fields.encoding = value.toLowerCase();
      fields.isOdd = true;
      break;
    case 'connection'.length:
      if (value.toLowerCase() !== 'keep-alive') fields.isOdd = true;
      break;
    // `Expect` and `Upgrade`.
    default:
      fields.isOdd = true;
  }
}

function withoutSpaceBehind(value: string): string {
  let end = value.length;
  while (end > 0 && (value[end - 1] === ' ' || value[end - 1] === '\t')) end--;
  return end === value.length ? value : value.slice(0, end);
}

function bodyOf(fields: Fields, isNew: boolean): RequestFraming['body'] {
  const { length, encoding, areAtOdds } = fields;
  if (areAtOdds) return 'unknown';
  if (encoding !== null) {
    return isNew && encoding === 'chunked' && length === null ? 'chunked' : 'unknown';
  }
  if (length === null) return 0;
  return LENGTH.test(length) ? Number(length) : 'unknown';
}

// The origin server says what is wrong with it, if anything is.
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
