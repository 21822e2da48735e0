/** The bytes that a socket did not take at once. */
export class WriteBuffer {
  private readonly parts: Uint8Array[];
  /** The number of buffered bytes. Only `writeTo` makes it 0. */
  bytes: number;

  constructor(part: Uint8Array) {
    this.parts = [part];
    this.bytes = part.length;
  }

  push(part: Uint8Array): void {
    this.parts.push(part);
    this.bytes += part.length;
  }

  /** Writes as much as the socket takes now. @returns whether it took any byte */
  writeTo(socket: { write(bytes: Uint8Array): number }): boolean {
    const { parts } = this;
    const before = this.bytes;
    while (parts.length > 0) {
      const next = parts[0] as Uint8Array;
      const written = Math.max(0, socket.write(next));
      this.bytes -= written;
      if (written < next.length) {
        parts[0] = next.subarray(written);
        break;
      }
      parts.shift();
    }
    return this.bytes < before;
  }
}
