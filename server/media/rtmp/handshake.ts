import { RtmpError } from './rtmp-message.ts';

/** The length of C1, C2, S1 and S2. */
export const HANDSHAKE_BYTES = 1536;

const VERSION = 3;

/** What a handshake has come to. */
export interface HandshakeStep {
  /** To be sent. */
  readonly reply: Uint8Array | null;
  /** What came after the handshake; null while it is not over. */
  readonly rest: Uint8Array | null;
}

/**
 * The server's side of the simple handshake (Adobe RTMP 1.0, 5.2). What C2 echoes is not looked at:
 * encoders that try the unpublished handshake of Flash first send something else.
 */
export class Handshake {
  private readonly random: () => Uint8Array;
  private held = Buffer.alloc(0);
  private isAnswered = false;

  /** @param random makes the bytes of S1, 1536 of them */
  constructor(random: () => Uint8Array) {
    this.random = random;
  }

  /** @throws RtmpError this is no RTMP, or an encrypted kind of it */
  push(bytes: Uint8Array): HandshakeStep {
    this.held = Buffer.concat([this.held, bytes]);
    const [version] = this.held;
    // A version that is lower is to be answered with ours, higher ones are reserved (5.2.2).
    if (version !== undefined && version > VERSION) throw new RtmpError('this is no plain RTMP');
    let reply: Uint8Array | null = null;
    if (!this.isAnswered && this.held.length >= 1 + HANDSHAKE_BYTES) {
      reply = this.answer();
      this.isAnswered = true;
    }
    const end = 1 + 2 * HANDSHAKE_BYTES;
    return { reply, rest: this.held.length >= end ? this.held.subarray(end) : null };
  }

  /** S0, S1 and S2. */
  private answer(): Uint8Array {
    const first = Buffer.from(this.random());
    // Our time is 0, and what follows it says that this is the simple kind.
    first.fill(0, 0, 8);
    const echo = this.held.subarray(1, 1 + HANDSHAKE_BYTES);
    return Buffer.concat([Uint8Array.of(VERSION), first, echo]);
  }
}
