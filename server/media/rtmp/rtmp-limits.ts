/** Timeouts and size limits of a connection. */
export interface RtmpLimits {
  /** From the first byte to the end of the handshake. */
  readonly handshakeMs: number;
  /** From the handshake to the publish command. */
  readonly publishMs: number;
  /** For the service to accept or reject a source. */
  readonly openMs: number;
  /** Silence after which a source is ended; a new source is rejected until then. */
  readonly idleMs: number;
  /** How long the encoder may apply back-pressure. */
  readonly backPressureMs: number;
  /** How long a refused sender may keep the connection half-open. */
  readonly lingerMs: number;
  /** How long a closed connection still counts for its address; slows key guessing. */
  readonly closedHoldMs: number;
  /** Size of a message from an accepted source. */
  readonly messageBytes: number;
  /** Size of a message before acceptance. */
  readonly pendingMessageBytes: number;
  /** All bytes before acceptance: 5 kB, plus first frames from encoders that do not wait. */
  readonly pendingBytes: number;
  /** Messages per second: typically 110, more after a stall. */
  readonly messagesPerSecond: number;
  /** Unread bytes in the send buffer; server messages are small. */
  readonly replyBytes: number;
}

export const RTMP_LIMITS: RtmpLimits = {
  handshakeMs: 5_000,
  publishMs: 5_000,
  openMs: 10_000,
  idleMs: 8_000,
  backPressureMs: 10_000,
  lingerMs: 2_000,
  closedHoldMs: 1_000,
  messageBytes: 8 << 20,
  pendingMessageBytes: 64 << 10,
  pendingBytes: 256 << 10,
  messagesPerSecond: 3_000,
  replyBytes: 64 << 10,
};
