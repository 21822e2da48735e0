/** ISO/IEC 13818-1, 2.4.3.2. */
export const PACKET_BYTES = 188;
export const SYNC_BYTE = 0x47;

/** Header of a transport packet. */
export interface Packet {
  readonly pid: number;
  /** Whether a PES packet or a section starts in it. */
  readonly startsPayloadUnit: boolean;
  /** Random access indicator: a decoder can start here. */
  readonly isRandomAccess: boolean;
  /** Offset of the payload; 188 without one. */
  readonly content: number;
}

/** Parses a packet header. @param bytes a complete packet */
export function readPacket(bytes: Uint8Array): Packet {
  const byte = (at: number) => bytes[at] ?? 0;
  const hasAdaptation = (byte(3) & 0x20) !== 0;
  const hasPayload = (byte(3) & 0x10) !== 0;
  const adaptationBytes = hasAdaptation ? 1 + byte(4) : 0;
  return {
    pid: ((byte(1) & 0x1f) << 8) | byte(2),
    // Ignore the start flag of a packet with the transport error indicator.
    startsPayloadUnit: (byte(1) & 0xc0) === 0x40,
    isRandomAccess: adaptationBytes > 1 && (byte(5) & 0x40) !== 0,
    content: hasPayload ? Math.min(4 + adaptationBytes, PACKET_BYTES) : PACKET_BYTES,
  };
}

/**
 * Presentation time of a PES packet (2.4.3.6), in 90 kHz ticks modulo 2^33.
 * @param start offset of the PES packet
 * @returns null without a presentation time
 */
export function presentationTicks(bytes: Uint8Array, start: number): number | null {
  const byte = (offset: number) => bytes[start + offset] ?? 0;
  if (start + 14 > bytes.length || byte(0) !== 0 || byte(1) !== 0 || byte(2) !== 1) return null;
  if ((byte(6) & 0xc0) !== 0x80 || (byte(7) & 0x80) === 0) return null;
  const low = ((byte(10) << 7) | (byte(11) >> 1)) * 2 ** 15 + ((byte(12) << 7) | (byte(13) >> 1));
  return ((byte(9) >> 1) & 0x07) * 2 ** 30 + low;
}
