/** Ends every file, so that one that was cut off, or never was ours, is known. */
const MAGIC = new TextEncoder().encode('4BEAT-01');
const FOOTER_BYTES = 4 + MAGIC.byteLength;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * A file of payloads one after the other, and then what is said about them, as JSON, its length
 * (32 bits, big-endian) and a mark. Payloads first, so that their places need no reading.
 */
export function packed(payloads: readonly Uint8Array[], said: unknown): Uint8Array[] {
  const json = encoder.encode(JSON.stringify(said));
  const footer = new Uint8Array(FOOTER_BYTES);
  new DataView(footer.buffer).setUint32(0, json.byteLength);
  footer.set(MAGIC, 4);
  return [...payloads, json, footer];
}

/** What a packed file says, and how many bytes its payloads have. */
export interface Said {
  readonly said: unknown;
  readonly payloadBytes: number;
}

/**
 * @param tail the last bytes of the file, with all that is said
 * @param fileBytes of the whole file
 * @returns null when the file is not whole
 */
export function saidIn(tail: Uint8Array, fileBytes: number): Said | null {
  const footerAt = tail.byteLength - FOOTER_BYTES;
  if (footerAt < 0) return null;
  if (!MAGIC.every((byte, i) => tail[footerAt + 4 + i] === byte)) return null;
  const length = new DataView(tail.buffer, tail.byteOffset).getUint32(footerAt);
  if (length > footerAt) return null;
  try {
    const said: unknown = JSON.parse(decoder.decode(tail.subarray(footerAt - length, footerAt)));
    return { said, payloadBytes: fileBytes - FOOTER_BYTES - length };
  } catch {
    return null;
  }
}
