import { HEAD_BYTES_MAX } from '../request-head.ts';

/** Where a request ends, and how it can be relayed. */
export interface RequestFraming {
  /** The length of the request line with its CRLF, where a header can be inserted; 0 without a line. */
  readonly lineBytes: number;
  /** The length of the head; 0 when its end is not found. */
  readonly headBytes: number;
  /** The length of the body in bytes; `unknown`: servers may disagree about it. */
  readonly body: number | 'chunked' | 'unknown';
  /** Whether all servers find the end of the request at the same byte, so that connections can be reused. */
  readonly isUnambiguous: boolean;
  /** Whether the method is HEAD: the response has no body, whatever its head says. */
  readonly isHead: boolean;
  /**
   * Whether the gateway must reject the request: several `Host` lines (RFC 9112, 3.2), or a DEL (RFC 9110,
   * 5.5), which nginx and the origin server accept.
   */
  readonly isRejected: boolean;
}

// As bytes: a search for a string takes six times as long.
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const END_OF_LINE = Buffer.from('\r\n');

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";

// The syntax of RFC 9112 without its tolerated deviations: no bare LF, no folded line, no space before a
// colon, no control character. No repetition can match in two ways, so matching takes linear time.
const STRICT_HEAD = new RegExp(
  `^(${TOKEN}) ([\\x21-\\x7e\\x80-\\xff]+) HTTP/1\\.([01])\\r\\n(?:${TOKEN}:[\\t\\x20-\\x7e\\x80-\\xff]*\\r\\n)*\\r\\n$`,
);

// The value includes trailing whitespace: a pattern that excludes it takes quadratic time.
const FRAMING_FIELD =
  /\r\n(content-length|transfer-encoding|connection|expect|upgrade|host):[\t ]*([^\r]*)/gi;

const ORIGIN_FORM_TARGET = /^\/[\x21-\x7e]*$/;

const METHODS_WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS']);
const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

// At most 15 digits: a number has them exactly.
const LENGTH = /^\d{1,15}$/;
const CANONICAL_LENGTH = /^(?:0|[1-9]\d*)$/;

/** Parses the framing of a request. @param bytes begin with its head, or cannot become a head */
export function parseRequestFraming(bytes: Buffer): RequestFraming {
  const headBytes = bytes.indexOf(END_OF_HEAD) + 4;
  if (headBytes < 4) return unknownFraming(bytes, 0);
  // The origin server rejects longer heads, and matching 500 KB would take 38 ms.
  if (headBytes > HEAD_BYTES_MAX) return unknownFraming(bytes, headBytes);
  const head = bytes.toString('latin1', 0, headBytes);
  const match = STRICT_HEAD.exec(head);
  if (!match) return { ...unknownFraming(bytes, headBytes), isRejected: head.includes('\x7f') };
  const method = match[1] as string;
  const isHttp11 = match[3] === '1';
  const fields = framingFields(head);
  const body = bodyFraming(fields, isHttp11);
  if (body === 'unknown') return unknownFraming(bytes, headBytes);
  return {
    lineBytes: head.indexOf('\r\n') + 2,
    headBytes,
    body,
    isUnambiguous:
      isHttp11 &&
      ORIGIN_FORM_TARGET.test(match[2] as string) &&
      body !== 'chunked' &&
      (METHODS_WITH_BODY.has(method) || (METHODS_WITHOUT_BODY.has(method) && body === 0)) &&
      fields.hostCount === 1 &&
      !fields.isAmbiguous,
    isHead: method === 'HEAD',
    isRejected: fields.hostCount > 1,
  };
}

/** The headers that determine the framing. */
interface FramingFields {
  hostCount: number;
  length: string | null;
  /** In lower case. */
  encoding: string | null;
  /** Whether there are two lengths, also if they are the same, or two encodings. */
  isContradictory: boolean;
  /** Whether servers may read any of the headers differently. */
  isAmbiguous: boolean;
}

function framingFields(head: string): FramingFields {
  const fields = {
    hostCount: 0,
    length: null,
    encoding: null,
    isContradictory: false,
    isAmbiguous: false,
  };
  FRAMING_FIELD.lastIndex = 0;
  for (;;) {
    const match = FRAMING_FIELD.exec(head);
    if (!match) return fields;
    addField(fields, match[1] as string, match[2] as string);
  }
}

// Names are recognized by their lengths, which all differ.
function addField(fields: FramingFields, name: string, untrimmed: string): void {
  const value = trimEnd(untrimmed);
  if (value.length < untrimmed.length) fields.isAmbiguous = true;
  switch (name.length) {
    case 'host'.length:
      fields.hostCount++;
      break;
    case 'content-length'.length:
      if (!CANONICAL_LENGTH.test(value)) fields.isAmbiguous = true;
      if (fields.length !== null) fields.isContradictory = true;
      fields.length = value;
      break;
    case 'transfer-encoding'.length:
      if (fields.encoding !== null) fields.isContradictory = true;
      fields.encoding = value.toLowerCase();
      fields.isAmbiguous = true;
      break;
    case 'connection'.length:
      if (value.toLowerCase() !== 'keep-alive') fields.isAmbiguous = true;
      break;
    // `Expect` and `Upgrade`.
    default:
      fields.isAmbiguous = true;
  }
}

function trimEnd(value: string): string {
  let end = value.length;
  while (end > 0 && (value[end - 1] === ' ' || value[end - 1] === '\t')) end--;
  return end === value.length ? value : value.slice(0, end);
}

function bodyFraming(fields: FramingFields, isHttp11: boolean): RequestFraming['body'] {
  const { length, encoding, isContradictory } = fields;
  if (isContradictory) return 'unknown';
  if (encoding !== null) {
    return isHttp11 && encoding === 'chunked' && length === null ? 'chunked' : 'unknown';
  }
  if (length === null) return 0;
  return LENGTH.test(length) ? Number(length) : 'unknown';
}

// The head is forwarded, so that the origin server rejects a malformed request with its own error.
function unknownFraming(bytes: Buffer, headBytes: number): RequestFraming {
  const lineEnd = bytes.indexOf(END_OF_LINE);
  return {
    lineBytes: lineEnd < 0 ? 0 : lineEnd + 2,
    headBytes,
    body: 'unknown',
    isUnambiguous: false,
    isHead: bytes.toString('latin1', 0, 5) === 'HEAD ',
    isRejected: false,
  };
}
