const LF = 10;
const CR = 13;
const SEMICOLON = 59;
const TAB = 9;
const SPACE = 32;
const DELETE = 127;

// The limit for all extensions and trailers of one body together. The relay does not interpret them.
const MAX_EXTRA_BYTES = 16_384;

// A size of 13 hexadecimal digits is below 2^52, so arithmetic with it is exact.
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
  | 'end-lf'; // of the empty line that ends the body

/** Finds the end of a chunked body (RFC 9112, 7.1) that arrives in pieces of any size. */
export class ChunkedFraming {
  /** Whether the body has been taken to its end, with its trailers. */
  isComplete = false;
  /** Whether a byte violates the syntax. The end of the body is then unknown. */
  isInvalid = false;
  private isInTrailers = false;
  private phase: Phase = 'size';
  private digitCount = 0;
  private remainingBytes = 0;
  private extraBytes = 0;

  /**
   * Takes the next bytes.
   * @param from the offset of the first one
   * @returns the offset after the body; `bytes.length` while it is incomplete, or when it is invalid
   */
  take(bytes: Uint8Array, from: number): number {
    let at = this.takeChunks(bytes, from);
    while (at < bytes.length && !this.isComplete && !this.isInvalid) this.step(bytes[at++] ?? 0);
    return this.isInvalid ? bytes.length : at;
  }

  /**
   * Takes the next bytes up to the trailers.
   * @returns the offset after the last chunk, or after the first invalid byte; `bytes.length` while
   *   neither has arrived
   */
  takeChunks(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length && !this.isInTrailers && !this.isInvalid) {
      if (this.phase === 'data') at = this.skipData(bytes, at);
      else this.step(bytes[at++] ?? 0);
    }
    return at;
  }

  private skipData(bytes: Uint8Array, at: number): number {
    const skipped = Math.min(this.remainingBytes, bytes.length - at);
    this.remainingBytes -= skipped;
    if (this.remainingBytes === 0) this.phase = 'data-end';
    return at + skipped;
  }

  private step(byte: number): void {
    switch (this.phase) {
      case 'size':
        this.takeSize(byte);
        break;
      case 'extension':
        this.takeExtra(byte, 'size-end');
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
        if (byte === CR) this.phase = 'end-lf';
        else if (byte === TAB || byte === SPACE) this.isInvalid = true;
        else this.takeExtra(byte, 'trailer-end');
        break;
      case 'trailer':
        this.takeExtra(byte, 'trailer-end');
        break;
      case 'trailer-end':
        if (this.expect(byte, LF)) this.phase = 'trailer-begin';
        break;
      case 'end-lf':
        this.isComplete = this.expect(byte, LF);
    }
  }

  private endSize(): void {
    this.digitCount = 0;
    this.isInTrailers = this.remainingBytes === 0;
    this.phase = this.isInTrailers ? 'trailer-begin' : 'data';
  }

  private takeSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.digitCount++;
      this.remainingBytes = this.remainingBytes * 16 + digit;
      this.isInvalid = this.digitCount > MAX_DIGITS;
    } else if (this.digitCount === 0) this.isInvalid = true;
    else if (byte === CR) this.phase = 'size-end';
    else if (byte === SEMICOLON) this.phase = 'extension';
    else this.isInvalid = true;
  }

  // Takes one byte of an extension or of a trailer. Both end with CR; then `endPhase` begins.
  private takeExtra(byte: number, endPhase: Phase): void {
    this.extraBytes++;
    if (byte === CR) this.phase = endPhase;
    else if (this.phase === 'trailer-begin') this.phase = 'trailer';
    const isControl = (byte < SPACE && byte !== TAB && byte !== CR) || byte === DELETE;
    if (isControl || this.extraBytes > MAX_EXTRA_BYTES) this.isInvalid = true;
  }

  private expect(byte: number, expected: number): boolean {
    if (byte !== expected) this.isInvalid = true;
    return byte === expected;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
