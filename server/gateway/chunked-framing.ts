const LF = 10;
const CR = 13;
const SEMICOLON = 59;
const TAB = 9;
const SPACE = 32;
const DELETE = 127;

// Of the lines between the bytes of one body that mean nothing here: extensions and trailers.
const MAX_EXTRA_BYTES = 16_384;

// Thirteen digits are 2^52, so that sums are exact.
const MAX_DIGITS = 13;

type Phase =
  | 'size' // of the next chunk, in hexadecimal
  | 'extension'
  | 'size-end'
  | 'data'
  | 'data-end'
  | 'data-end-lf'
  | 'trailer-begin'
  | 'trailer'
  | 'trailer-end'
  | 'last';

/** Finds the end of a body in chunks (RFC 9112, 7.1), however it is cut. */
export class ChunkedFraming {
  /** Whether the whole body has come. */
  isComplete = false;
  /** Whether it is no such body: where it ends nobody knows. */
  isBroken = false;
  private isInTrailers = false;
  private phase: Phase = 'size';
  private digits = 0;
  private leftBytes = 0;
  private extraBytes = 0;

  /**
   * Takes the next bytes.
   * @param from where in `bytes` they begin
   * @returns where the body ends in them, or their end when it goes on or is broken
   */
  take(bytes: Uint8Array, from: number): number {
    let at = this.takeChunks(bytes, from);
    while (at < bytes.length && !this.isComplete && !this.isBroken) this.step(bytes[at++] ?? 0);
    return this.isBroken ? bytes.length : at;
  }

  /**
   * Takes the next bytes, but no trailers.
   * @returns where the trailers begin in them, and be it with the end of the body; or where it is broken
   */
  takeChunks(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length && !this.isInTrailers && !this.isBroken) {
      if (this.phase === 'data') at = this.skipData(bytes, at);
      else this.step(bytes[at++] ?? 0);
    }
    return at;
  }

  private skipData(bytes: Uint8Array, at: number): number {
    const skipped = Math.min(this.leftBytes, bytes.length - at);
    this.leftBytes -= skipped;
    if (this.leftBytes === 0) this.phase = 'data-end';
    return at + skipped;
  }

  private step(byte: number): void {
    switch (this.phase) {
      case 'size':
        this.size(byte);
        break;
      case 'extension':
        this.extra(byte, 'size-end');
        break;
      case 'size-end':
        if (this.expect(byte, LF)) this.endSize();
        break;
      case 'data-end':
        if (this.expect(byte, CR)) this.phase = 'data-end-lf';
        break;
      case 'data-end-lf':
        if (this.expect(byte, LF)) this.phase = 'size';
        break;
      case 'trailer-begin':
        if (byte === CR) this.phase = 'last';
        else if (byte === TAB || byte === SPACE) this.isBroken = true;
        else this.extra(byte, 'trailer-end');
        break;
      case 'trailer':
        this.extra(byte, 'trailer-end');
        break;
      case 'trailer-end':
        if (this.expect(byte, LF)) this.phase = 'trailer-begin';
        break;
      case 'last':
        this.isComplete = this.expect(byte, LF);
    }
  }

  private endSize(): void {
    this.digits = 0;
    this.isInTrailers = this.leftBytes === 0;
    this.phase = this.isInTrailers ? 'trailer-begin' : 'data';
  }

  private size(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.digits++;
      this.leftBytes = this.leftBytes * 16 + digit;
      this.isBroken = this.digits > MAX_DIGITS;
    } else if (this.digits === 0) this.isBroken = true;
    else if (byte === CR) this.phase = 'size-end';
    else if (byte === SEMICOLON) this.phase = 'extension';
    else this.isBroken = true;
  }

  // A line that is passed on and not read, up to its CR.
  private extra(byte: number, end: Phase): void {
    this.extraBytes++;
    if (byte === CR) this.phase = end;
    else if (this.phase === 'trailer-begin') this.phase = 'trailer';
    const isControl = (byte < SPACE && byte !== TAB && byte !== CR) || byte === DELETE;
    if (isControl || this.extraBytes > MAX_EXTRA_BYTES) this.isBroken = true;
  }

  private expect(byte: number, expected: number): boolean {
    if (byte !== expected) this.isBroken = true;
    return byte === expected;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
