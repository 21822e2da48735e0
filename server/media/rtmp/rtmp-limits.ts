/** How long a connection is waited for, and how much is taken from it. */
export interface RtmpLimits {
  /** From the first byte to the end of the handshake. */
  readonly handshakeMs: number;
  /** From the handshake to the publishing. */
  readonly publishMs: number;
  /** How long the service may take to say whether it takes a source. */
  readonly openMs: number;
  /** How long a source may send nothing: one that vanished keeps its successor out for so long. */
  readonly idleMs: number;
  /** How long the encoder may take nothing. */
  readonly slowMs: number;
  /** How long a sender that was sent away may take to hear it. */
  readonly lingerMs: number;
  /** How long a connection that is closed still counts for its address: who guesses keys waits. */
  readonly restMs: number;
  /** A message of a source that was taken. */
  readonly messageBytes: number;
  /** A message of anybody else. */
  readonly firstMessageBytes: number;
  /** All that comes until a source is taken: 5 kB, and the first pictures of who does not wait. */
  readonly firstBytes: number;
  /** Pictures and sounds of a source, in a second: some 110, and more when it was held up. */
  readonly messagesPerS: number;
  /** What may wait to be read by the sender: replies are small. */
  readonly replyBytes: number;
}

export const RTMP_LIMITS: RtmpLimits = {
  handshakeMs: 5_000,
  publishMs: 5_000,
  openMs: 10_000,
  idleMs: 8_000,
  slowMs: 10_000,
  lingerMs: 2_000,
  restMs: 1_000,
  messageBytes: 8 << 20,
  firstMessageBytes: 64 << 10,
  firstBytes: 256 << 10,
  messagesPerS: 3_000,
  replyBytes: 64 << 10,
};
