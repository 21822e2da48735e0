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

export const TICKS_PER_MS = 90;
/** Times are numbers below this one. */
export const WRAP_TICKS = 2 ** 33;

/** The time from one point to another one at most half a wrap away, in ticks. */
export function ticksBetween(from: number, to: number): number {
  const ticks = (((to - from) % WRAP_TICKS) + WRAP_TICKS) % WRAP_TICKS;
  return ticks < WRAP_TICKS / 2 ? ticks : ticks - WRAP_TICKS;
}

/**
 * @param counter the low four bits count the packets of a stream that have a payload
 * @param start offset of the packet
 */
export function setContinuityCounter(bytes: Uint8Array, counter: number, start = 0): void {
  bytes[start + 3] = ((bytes[start + 3] ?? 0) & 0xf0) | (counter & 0x0f);
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
  return readTicks(bytes, start + PTS_OFFSET);
}

const PTS_OFFSET = 9;
const DTS_OFFSET = 14;

/** Decoding time of a PES packet, which is its presentation time unless it has both; else as above. */
export function decodingTicks(bytes: Uint8Array, start: number): number | null {
  const ticks = presentationTicks(bytes, start);
  return ticks !== null && hasDecodingTime(bytes, start)
    ? readTicks(bytes, start + DTS_OFFSET)
    : ticks;
}

/** Moves a PES packet that has times to another decoding time. @param start offset of the PES packet */
export function setPesTicks(bytes: Uint8Array, start: number, ticks: number): void {
  const presentation = presentationTicks(bytes, start);
  const decoding = decodingTicks(bytes, start);
  if (presentation === null || decoding === null) return;
  writeTicks(bytes, start + PTS_OFFSET, ticks + presentation - decoding);
  if (hasDecodingTime(bytes, start)) writeTicks(bytes, start + DTS_OFFSET, ticks);
}

function hasDecodingTime(bytes: Uint8Array, start: number): boolean {
  return ((bytes[start + 7] ?? 0) & 0xc0) === 0xc0 && start + DTS_OFFSET + 5 <= bytes.length;
}

function readTicks(bytes: Uint8Array, at: number): number {
  const byte = (offset: number) => bytes[at + offset] ?? 0;
  const low = ((byte(1) << 7) | (byte(2) >> 1)) * 2 ** 15 + ((byte(3) << 7) | (byte(4) >> 1));
  return ((byte(0) >> 1) & 0x07) * 2 ** 30 + low;
}

/** Writes 33 bits in three groups that end with a marker bit, and keeps the prefix of four bits. */
function writeTicks(bytes: Uint8Array, at: number, ticks: number): void {
  const value = ((ticks % WRAP_TICKS) + WRAP_TICKS) % WRAP_TICKS;
  const [high, middle, low] = [value / 2 ** 30, (value / 2 ** 15) % 2 ** 15, value % 2 ** 15];
  bytes[at] = ((bytes[at] ?? 0) & 0xf0) | (Math.floor(high) << 1) | 1;
  for (const [offset, bits] of [
    [1, Math.floor(middle)],
    [3, Math.floor(low)],
  ] as const) {
    bytes[at + offset] = bits >> 7;
    bytes[at + offset + 1] = ((bits << 1) & 0xff) | 1;
  }
}
