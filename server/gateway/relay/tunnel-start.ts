/** Most bytes of a client before the first message of the server: a source sends its key, about 200 bytes. */
const CLIENT_BYTES_MAX = 16 << 10;
/** Opcodes from here on are of control frames: close, ping, pong (RFC 6455, 5.2). */
const CONTROL_OPCODE_MIN = 8;

/**
 * The begin of a WebSocket, until the server has sent a message. A client without a valid key gets none: it must not
 * make the server buffer a message of several megabytes, as 64 sockets with 8 MB each could.
 */
export class TunnelStart {
  private clientBytes = 0;
  private isAnswered = false;

  /** Counts bytes of the client. @returns whether it may go on */
  allows(bytes: number): boolean {
    if (this.isAnswered) return true;
    this.clientBytes += bytes;
    return this.clientBytes <= CLIENT_BYTES_MAX;
  }

  /** Reads whole frames of the server, which are small until it has sent a message. */
  onServerFrames(frames: Uint8Array): void {
    for (let at = 0; !this.isAnswered && at + 1 < frames.length; ) {
      this.isAnswered = ((frames[at] as number) & 0x0f) < CONTROL_OPCODE_MIN;
      at += 2 + (frames[at + 1] as number);
    }
  }
}
