import type { RtmpMessage } from './rtmp-message.ts';

const EXTENDED = 0xff_ffff;

/**
 * A message in chunks: the first of format 0, the others of format 3 (Adobe RTMP 1.0, 5.3).
 * @param chunkStream 2–63
 * @param chunkBytes the most that a chunk carries, as the peer was told
 */
export function chunked(message: RtmpMessage, chunkStream: number, chunkBytes: number): Uint8Array {
  const { payload, timestampMs } = message;
  const isExtended = timestampMs >= EXTENDED;
  const head = Buffer.alloc(12);
  head[0] = chunkStream;
  head.writeUIntBE(isExtended ? EXTENDED : timestampMs, 1, 3);
  head.writeUIntBE(payload.length, 4, 3);
  head[7] = message.type;
  head.writeUInt32LE(message.streamId, 8);
  const timestamp = Buffer.alloc(isExtended ? 4 : 0);
  if (isExtended) timestamp.writeUInt32BE(timestampMs);
  const parts: Uint8Array[] = [head, timestamp, payload.subarray(0, chunkBytes)];
  for (let at = chunkBytes; at < payload.length; at += chunkBytes) {
    parts.push(Uint8Array.of(0xc0 | chunkStream), timestamp, payload.subarray(at, at + chunkBytes));
  }
  return Buffer.concat(parts);
}
