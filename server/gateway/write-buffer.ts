/** What a client did not take at once. It is never empty but for the moment in which the last went out. */
export class WriteBuffer {
  private readonly parts: Uint8Array[];
  /** How many bytes wait. */
  bytes: number;

  constructor(part: Uint8Array) {
    this.parts = [part];
    this.bytes = part.length;
  }

  push(part: Uint8Array): void {
    this.parts.push(part);
    this.bytes += part.length;
  }

  /** Sends what the client takes now. @returns whether it took any */
  writeTo(socket: { write(bytes: Uint8Array): number }): boolean {
    const { parts } = this;
    const before = this.bytes;
    while (parts.length > 0) {
      const next = parts[0] as Uint8Array;
      const taken = Math.max(0, socket.write(next));
      this.bytes -= taken;
      if (taken < next.length) {
        parts[0] = next.subarray(taken);
        break;
      }
      parts.shift();
    }
    return this.bytes < before;
  }
}
