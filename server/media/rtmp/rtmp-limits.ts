/** Timeouts and size limits of a connection. */
export const RTMP_LIMITS = {
  /**
   * New connections per second of one client: an IPv4 address or an IPv6 /48. The others are closed at once. SRT has
   * the same limit of handshakes.
   */
  connectionsPerSecond: 300,
  /**
   * Unknown keys per minute of one address; then it gets no source until the minute is over. Slows key guessing. SRT
   * and WebSocket count all attempts.
   */
  unknownKeysPerMinute: 60,
  /** From the first byte to the end of the handshake. */
  handshakeMs: 5_000,
  /** From the handshake to the publish command. */
  publishMs: 5_000,
  /** For the service to accept or reject a source. */
  openMs: 10_000,
  /** Silence after which a source is ended; a new source is rejected until then. */
  idleMs: 8_000,
  /** How long the encoder may apply back-pressure. One that hangs is restarted before, after 10.5 s. */
  backPressureMs: 12_000,
  /** How long a refused sender may keep the connection half-open. */
  lingerMs: 2_000,
  /** How long a closed connection still counts for its address; slows key guessing. */
  closedHoldMs: 1_000,
  /** Size of a message from an accepted source. */
  messageBytes: 8 << 20,
  /** Size of a message before acceptance, and of a command. */
  pendingMessageBytes: 64 << 10,
  /** All bytes before acceptance: 5 kB, plus first frames from encoders that do not wait. */
  pendingBytes: 256 << 10,
  /** Messages before acceptance. Encoders send about ten. */
  pendingMessages: 200,
  /** Responses to pings per second; others get none. Each is a packet of its own. */
  pingsPerSecond: 10,
  /** Messages per second, also those in aggregates: typically 110, more after a stall. */
  messagesPerSecond: 3_000,
  /** Stream metadata per second. Encoders send it once; 64 KB of it may take 0.6 ms. */
  metadataPerSecond: 20,
  /** Unread bytes in the send buffer; server messages are small. */
  replyBytes: 64 << 10,
};

export type RtmpLimits = Readonly<typeof RTMP_LIMITS>;
