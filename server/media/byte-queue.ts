/** An empty queue frees a buffer larger than this, in bytes, so that one large unit is not retained. */
const RETAINED_BUFFER_BYTES = 256 * 1024;

/** A contiguous byte queue. Each byte is copied a constant number of times on average. */
export class ByteQueue {
  private buffer = new Uint8Array(4096);
  private start = 0;
  private end = 0;

  get length(): number {
    return this.end - this.start;
  }

  push(bytes: Uint8Array): void {
    if (this.end + bytes.length > this.buffer.length) this.reserve(bytes.length);
    this.buffer.set(bytes, this.end);
    this.end += bytes.length;
  }

  /** All queued bytes, oldest first. Valid until the next `push`, `take` or `drop`. */
  peek(): Uint8Array {
    return this.buffer.subarray(this.start, this.end);
  }

  /** Removes the oldest bytes and returns a copy. @param length at most `this.length` */
  take(length: number): Uint8Array<ArrayBuffer> {
    const bytes = this.buffer.slice(this.start, this.start + length);
    this.drop(length);
    return bytes;
  }

  /** Discards the oldest bytes. @param length at most `this.length` */
  drop(length: number): void {
    this.start += length;
    if (this.start < this.end) return;
    this.start = 0;
    this.end = 0;
    if (this.buffer.length > RETAINED_BUFFER_BYTES) this.buffer = new Uint8Array(4096);
  }

  private reserve(additionalBytes: number): void {
    const needed = this.length + additionalBytes;
    if (needed * 2 <= this.buffer.length) {
      this.buffer.copyWithin(0, this.start, this.end);
    } else {
      const larger = new Uint8Array(needed * 2);
      larger.set(this.peek());
      this.buffer = larger;
    }
    this.end -= this.start;
    this.start = 0;
  }
}

export function concatBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const result = new Uint8Array(length);
  let offset = 0;
  for (const piece of pieces) {
    result.set(piece, offset);
    offset += piece.length;
  }
  return result;
}
