/** One answer of HTTP/1.1 in the bytes that came. */
export interface Answer {
  readonly status: number;
  /** Where its body begins, and where the answer ends; the body is all between. */
  readonly bodyAt: number;
  readonly endAt: number;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const LENGTH = Buffer.from('\r\nContent-Length: ');
const STATUS_AT = 'HTTP/1.1 '.length;
const ZERO = 48;
const CR = 13;

/**
 * Reads the answer that begins at `from`, as little of it as can be: its status and its length.
 * @returns null when it is not complete
 */
export function readAnswer(bytes: Buffer, from: number): Answer | null {
  const headEnd = bytes.indexOf(END_OF_HEAD, from);
  if (headEnd < 0) return null;
  const status =
    (digit(bytes, from + STATUS_AT) * 10 + digit(bytes, from + STATUS_AT + 1)) * 10 +
    digit(bytes, from + STATUS_AT + 2);
  const bodyAt = headEnd + END_OF_HEAD.length;
  const endAt = bodyAt + lengthIn(bytes, from, headEnd);
  return endAt > bytes.length ? null : { status, bodyAt, endAt };
}

function lengthIn(bytes: Buffer, from: number, headEnd: number): number {
  const at = bytes.indexOf(LENGTH, from);
  if (at < 0 || at > headEnd) return 0;
  let length = 0;
  for (let n = at + LENGTH.length; bytes[n] !== CR; n++) length = length * 10 + digit(bytes, n);
  return length;
}

const digit = (bytes: Buffer, at: number) => (bytes[at] as number) - ZERO;
