/** An HTTP/1.1 response in a buffer. */
export interface ParsedResponse {
  readonly status: number;
  /** Offsets of the body and of the end of the response. */
  readonly bodyStart: number;
  readonly end: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const CONTENT_LENGTH = Buffer.from('\r\nContent-Length: ');
const STATUS_START = 'HTTP/1.1 '.length;
const ZERO = 48;
const CR = 13;

/** Reads the status and the length of the first response. @returns null when it is not complete */
export function readResponse(bytes: Buffer): ParsedResponse | null {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return null;
  const status =
    (digit(bytes, STATUS_START) * 10 + digit(bytes, STATUS_START + 1)) * 10 +
    digit(bytes, STATUS_START + 2);
  const bodyStart = headEnd + HEAD_END.length;
  const end = bodyStart + lengthIn(bytes, headEnd);
  return end > bytes.length ? null : { status, bodyStart, end };
}

function lengthIn(bytes: Buffer, headEnd: number): number {
  const at = bytes.indexOf(CONTENT_LENGTH);
  if (at < 0 || at > headEnd) return 0;
  let length = 0;
  for (let n = at + CONTENT_LENGTH.length; bytes[n] !== CR; n++)
    length = length * 10 + digit(bytes, n);
  return length;
}

const digit = (bytes: Buffer, at: number) => (bytes[at] as number) - ZERO;
