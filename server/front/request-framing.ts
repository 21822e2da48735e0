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
  /** Whether it asks for another protocol. */
  readonly mayUpgrade: boolean;
}

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";

// RFC 9112 without anything that it tolerates: no bare LF, no folded line, no space before a colon,
// no control character. Each repetition ends where nothing else can begin, so it takes linear time.
const STRICT_HEAD = new RegExp(
  `^(${TOKEN}) ([\\x21-\\x7e]+) HTTP/1\\.([01])\\r\\n(?:${TOKEN}:[\\t\\x20-\\x7e\\x80-\\xff]*\\r\\n)*\\r\\n$`,
);

const TELLING_FIELD =
  /\r\n(content-length|transfer-encoding|connection|expect|upgrade|host):[\t ]*([^\r]*?)[\t ]*(?=\r)/gi;

const METHODS_WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS']);
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

// One way to write a number, of which every sum is exact.
const LENGTH = /^(?:0|[1-9]\d{0,14})$/;

/** Reads how a request is framed. @param bytes begin with its head, if they have one at all */
export function framingOf(bytes: Buffer): RequestFraming {
  const headBytes = bytes.indexOf('\r\n\r\n') + 4;
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
      arePlain(fields),
    isHead: method === 'HEAD',
    mayUpgrade: fields.has('upgrade'),
  };
}

type Fields = ReadonlyMap<string, readonly string[]>;

/** Values in lower case, by the name of their header. */
function tellingFields(head: string): Fields {
  const fields = new Map<string, string[]>();
  for (const [, name = '', value = ''] of head.matchAll(TELLING_FIELD)) {
    const values = fields.get(name.toLowerCase());
    if (values) values.push(value.toLowerCase());
    else fields.set(name.toLowerCase(), [value.toLowerCase()]);
  }
  return fields;
}

function bodyOf(fields: Fields, isNew: boolean): RequestFraming['body'] {
  const lengths = fields.get('content-length') ?? [];
  const encodings = fields.get('transfer-encoding');
  if (encodings) {
    const isChunked = isNew && encodings.length === 1 && encodings[0] === 'chunked';
    return isChunked && lengths.length === 0 ? 'chunked' : 'unknown';
  }
  const [length = '0'] = lengths;
  return lengths.length <= 1 && LENGTH.test(length) ? Number(length) : 'unknown';
}

function arePlain(fields: Fields): boolean {
  const connection = fields.get('connection') ?? [];
  return (
    fields.get('host')?.length === 1 &&
    connection.every((value) => value === 'keep-alive') &&
    !fields.has('expect') &&
    !fields.has('upgrade')
  );
}

// The inner server says what is wrong with it, if anything is.
function oddFraming(bytes: Buffer): RequestFraming {
  const lineEnd = bytes.indexOf('\r\n');
  return {
    lineBytes: lineEnd < 0 ? 0 : lineEnd + 2,
    headBytes: 0,
    body: 'unknown',
    isPlain: false,
    isHead: bytes.toString('latin1', 0, 5) === 'HEAD ',
    mayUpgrade: false,
  };
}
