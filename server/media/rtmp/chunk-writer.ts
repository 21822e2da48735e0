import type { RtmpMessage } from './rtmp-message.ts';

const EXTENDED_TIMESTAMP = 0xff_ffff;

/**
 * Splits a message into chunks: the first of format 0, the others of format 3 (Adobe RTMP 1.0, 5.3).
 * @param chunkStream chunk stream id, 2–63
 * @param chunkBytes chunk size that was announced to the peer
 */
export function writeChunks(
  message: RtmpMessage,
  chunkStream: number,
  chunkBytes: number,
): Uint8Array {
  const { payload, timestampMs } = message;
  const isExtended = timestampMs >= EXTENDED_TIMESTAMP;
  const header = Buffer.alloc(12);
  header[0] = chunkStream;
  header.writeUIntBE(isExtended ? EXTENDED_TIMESTAMP : timestampMs, 1, 3);
  header.writeUIntBE(payload.length, 4, 3);
  header[7] = message.type;
  header.writeUInt32LE(message.streamId, 8);
  const timestamp = Buffer.alloc(isExtended ? 4 : 0);
  if (isExtended) timestamp.writeUInt32BE(timestampMs);
  const parts: Uint8Array[] = [header, timestamp, payload.subarray(0, chunkBytes)];
  for (let at = chunkBytes; at < payload.length; at += chunkBytes) {
    parts.push(Uint8Array.of(0xc0 | chunkStream), timestamp, payload.subarray(at, at + chunkBytes));
  }
  return Buffer.concat(parts);
}
