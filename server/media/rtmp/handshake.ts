import { RtmpError } from './rtmp-message.ts';

/** Length of C1, C2, S1 and S2. */
export const HANDSHAKE_BYTES = 1536;

const VERSION = 3;

/** Result of received handshake bytes. */
export interface HandshakeStep {
  /** Bytes to send; null for none. */
  readonly reply: Uint8Array | null;
  /** Bytes after the handshake; null while it is incomplete. */
  readonly rest: Uint8Array | null;
}

/**
 * Server side of the simple handshake (Adobe RTMP 1.0, 5.2). C2 is not verified: encoders that try
 * the unpublished Flash handshake s1 send other bytes.
 */
export class Handshake {
  private received = Buffer.alloc(0);
  private hasReplied = false;

  /** @param random returns the 1,536 bytes of S1 */
  constructor(private readonly random: () => Uint8Array) {}

  /** @throws RtmpError when this is not RTMP, or an encrypted variant */
  push(bytes: Uint8Array): HandshakeStep {
    this.received = Buffer.concat([this.received, bytes]);
    const [version] = this.received;
    // Lower versions get a reply with version 3; higher ones are reserved (5.2.2).
    if (version !== undefined && version > VERSION) throw new RtmpError('not plain RTMP');
    let reply: Uint8Array | null = null;
    if (!this.hasReplied && this.received.length >= 1 + HANDSHAKE_BYTES) {
      reply = this.createReply();
      this.hasReplied = true;
    }
    const end = 1 + 2 * HANDSHAKE_BYTES;
    return { reply, rest: this.received.length >= end ? this.received.subarray(end) : null };
  }

  /** S0, S1 and S2. */
  private createReply(): Uint8Array {
    const s1 = Buffer.from(this.random());
    // Time 0 and four zero bytes, which mark the simple handshake.
    s1.fill(0, 0, 8);
    const echo = this.received.subarray(1, 1 + HANDSHAKE_BYTES);
    return Buffer.concat([Uint8Array.of(VERSION), s1, echo]);
  }
}
