/** A queue that is empty gives room above this back, in bytes: one large unit is not kept for ever. */
const ROOM_KEPT_BYTES = 256 * 1024;

/**
 * Bytes that came and were not taken yet, in one piece. Every byte is moved a fixed number of times
 * on average, however small the chunks are.
 */
export class ByteQueue {
  private room = new Uint8Array(4096);
  private from = 0;
  private to = 0;

  get length(): number {
    return this.to - this.from;
  }

  push(bytes: Uint8Array): void {
    if (this.to + bytes.length > this.room.length) this.makeRoom(bytes.length);
    this.room.set(bytes, this.to);
    this.to += bytes.length;
  }

  /** What waits, oldest first. Good until the next `push` or `take`. */
  peek(): Uint8Array {
    return this.room.subarray(this.from, this.to);
  }

  /** Takes the oldest bytes out, as a copy. @param length at most what waits */
  take(length: number): Uint8Array<ArrayBuffer> {
    const taken = this.room.slice(this.from, this.from + length);
    this.drop(length);
    return taken;
  }

  /** Takes the oldest bytes out, unseen. @param length at most what waits */
  drop(length: number): void {
    this.from += length;
    if (this.from < this.to) return;
    this.from = 0;
    this.to = 0;
    if (this.room.length > ROOM_KEPT_BYTES) this.room = new Uint8Array(4096);
  }

  private makeRoom(more: number): void {
    const needed = this.length + more;
    if (needed * 2 <= this.room.length) {
      this.room.copyWithin(0, this.from, this.to);
    } else {
      const larger = new Uint8Array(needed * 2);
      larger.set(this.peek());
      this.room = larger;
    }
    this.to -= this.from;
    this.from = 0;
  }
}

/** All of them, one after the other. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
