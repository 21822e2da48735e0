/** ISO/IEC 13818-1, 2.4.3.2. */
export const PACKET_BYTES = 188;
export const SYNC_BYTE = 0x47;

/** A packet's head. */
export interface Packet {
  readonly pid: number;
  /** A PES packet or a table begins in it. */
  readonly startsUnit: boolean;
  /** A decoder can begin with what begins here. */
  readonly isRandomAccess: boolean;
  /** Where its content begins; 188: it has none. */
  readonly content: number;
}

/** @param bytes a whole packet */
export function readPacket(bytes: Uint8Array): Packet {
  const byte = (at: number) => bytes[at] ?? 0;
  const hasAdaptation = (byte(3) & 0x20) !== 0;
  const hasContent = (byte(3) & 0x10) !== 0;
  const adaptationBytes = hasAdaptation ? 1 + byte(4) : 0;
  return {
    pid: ((byte(1) & 0x1f) << 8) | byte(2),
    // A packet that is marked as damaged on its way begins nothing.
    startsUnit: (byte(1) & 0xc0) === 0x40,
    isRandomAccess: adaptationBytes > 1 && (byte(5) & 0x40) !== 0,
    content: hasContent ? Math.min(4 + adaptationBytes, PACKET_BYTES) : PACKET_BYTES,
  };
}

/**
 * The presentation time of a PES packet (2.4.3.6), in ticks of 90 kHz, modulo 2^33.
 * @param at where the PES packet begins
 * @returns null when it has none
 */
export function presentationTicks(bytes: Uint8Array, at: number): number | null {
  const byte = (offset: number) => bytes[at + offset] ?? 0;
  if (at + 14 > bytes.length || byte(0) !== 0 || byte(1) !== 0 || byte(2) !== 1) return null;
  if ((byte(6) & 0xc0) !== 0x80 || (byte(7) & 0x80) === 0) return null;
  const low = ((byte(10) << 7) | (byte(11) >> 1)) * 2 ** 15 + ((byte(12) << 7) | (byte(13) >> 1));
  return ((byte(9) >> 1) & 0x07) * 2 ** 30 + low;
}
