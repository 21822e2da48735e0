/** The bytes that a socket did not take at once. */
export class WriteBuffer {
  private readonly parts: Uint8Array[];
  /** The number of buffered bytes. Only `writeTo` makes it 0. */
  bytes: number;
  /** The number of bytes that `writeTo` wrote; its user may reset it. */
  writtenBytes = 0;

  constructor(part: Uint8Array) {
    this.parts = [part];
    this.bytes = part.length;
  }

  push(part: Uint8Array): void {
    this.parts.push(part);
    this.bytes += part.length;
  }

  /** The buffers that it keeps in memory. */
  get buffers(): ArrayBufferLike[] {
    return this.parts.map(({ buffer }) => buffer);
  }

  /** Writes as much as the socket takes now. */
  writeTo(socket: { write(bytes: Uint8Array): number }): void {
    const { parts } = this;
    while (parts.length > 0) {
      const next = parts[0] as Uint8Array;
      const written = Math.max(0, socket.write(next));
      this.bytes -= written;
      this.writtenBytes += written;
      if (written < next.length) {
        parts[0] = next.subarray(written);
        break;
      }
      parts.shift();
    }
  }
}
