import { isAt } from './header-lines.ts';

export const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Behind each target that a front reads. */
export const VERSION = bytesOf(' HTTP/1.1\r\n');
export const SLASH = 0x2f;
export const UUID_CHARS = 36;

const HEARTBEAT = bytesOf('POST /api/v1/view-counts/');
const FEED = bytesOf('GET /api/v1/events-streams/');
const INTERVAL = bytesOf('?interval=');
const DIGITS_MAX = 16;
const LETTER_P = 0x50;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_A = 0x61;
const LETTER_F = 0x66;

/** The request line of a heartbeat or a read of the feed. */
export class RequestLine {
  isHeartbeat = false;
  /** Of the stream. */
  idAt = 0;
  /** Of the interval; where there is none, both are 0. */
  digitsAt = 0;
  digitsEnd = 0;

  /** @returns where the line behind it begins; 0 when it is another's, or of another form */
  read(bytes: Buffer, at: number): number {
    this.isHeartbeat = bytes[at] === LETTER_P;
    const start = this.isHeartbeat ? HEARTBEAT : FEED;
    this.idAt = at + start.length;
    this.digitsAt = 0;
    this.digitsEnd = 0;
    if (!isAt(start, bytes, at) || !isUuid(bytes, this.idAt)) return 0;
    let next = this.idAt + UUID_CHARS;
    if (bytes[next] === SLASH) next++;
    if (!this.isHeartbeat && isAt(INTERVAL, bytes, next)) {
      this.digitsAt = next + INTERVAL.length;
      next = endOfNumber(bytes, this.digitsAt);
      this.digitsEnd = next;
    }
    return next > 0 && isAt(VERSION, bytes, next) ? next + VERSION.length : 0;
  }
}

/** Whether a UUID in the canonical form is there, in lower case. */
export function isUuid(bytes: Buffer, at: number): boolean {
  for (let index = 0; index < UUID_CHARS; index++) {
    const byte = bytes[at + index] as number;
    const isDash = index === 8 || index === 13 || index === 18 || index === 23;
    if (isDash ? byte !== 0x2d : !isHex(byte)) return false;
  }
  return true;
}

const isHex = (byte: number) => isDigit(byte) || (byte >= LETTER_A && byte <= LETTER_F);
const isDigit = (byte: number) => byte >= ZERO && byte <= NINE;

/** Where a number in the canonical form ends; 0 when there is none. */
function endOfNumber(bytes: Buffer, at: number): number {
  let next = at;
  while (isDigit(bytes[next] as number)) next++;
  const digits = next - at;
  if (digits === 0 || digits > DIGITS_MAX) return 0;
  return digits > 1 && bytes[at] === ZERO ? 0 : next;
}
