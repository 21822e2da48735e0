/** Marks the end of every file; reveals truncated and foreign files. */
const MAGIC = new TextEncoder().encode('4BEAT-01');
const FOOTER_BYTES = 4 + MAGIC.byteLength;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Packs a file: payloads, metadata as JSON, the length of the metadata (32 bits, big-endian) and a
 * magic number. Payloads come first, so that their offsets do not depend on the metadata.
 */
export function packFile(payloads: readonly Uint8Array[], metadata: unknown): Uint8Array[] {
  const json = encoder.encode(JSON.stringify(metadata));
  const footer = new Uint8Array(FOOTER_BYTES);
  new DataView(footer.buffer).setUint32(0, json.byteLength);
  footer.set(MAGIC, 4);
  return [...payloads, json, footer];
}

/** Metadata of a packed file and the total size of its payloads. */
export interface PackedContents {
  readonly metadata: unknown;
  readonly payloadBytes: number;
}

/**
 * Reads the metadata of a packed file.
 * @param tail the last bytes of the file, metadata included
 * @param fileBytes size of the whole file
 * @returns null when the file is incomplete or invalid
 */
export function readPackedTail(tail: Uint8Array, fileBytes: number): PackedContents | null {
  const footerAt = tail.byteLength - FOOTER_BYTES;
  if (footerAt < 0) return null;
  if (!MAGIC.every((byte, i) => tail[footerAt + 4 + i] === byte)) return null;
  const length = new DataView(tail.buffer, tail.byteOffset).getUint32(footerAt);
  if (length > footerAt) return null;
  try {
    const json = decoder.decode(tail.subarray(footerAt - length, footerAt));
    return { metadata: JSON.parse(json), payloadBytes: fileBytes - FOOTER_BYTES - length };
  } catch {
    return null;
  }
}
