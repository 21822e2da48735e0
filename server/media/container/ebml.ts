/** Header of an EBML element (RFC 8794). */
export interface ElementHeader {
  /** Element id with its marker bits, as in RFC 9559. */
  readonly id: number;
  /** Content length; null for an unknown size. */
  readonly contentBytes: number | null;
  /** Length of id and size fields. */
  readonly headerBytes: number;
}

/**
 * Reads an element header.
 * @returns null when it is incomplete
 * @throws Error when it is malformed
 */
export function readElementHeader(bytes: Uint8Array, offset: number): ElementHeader | null {
  const idLength = vintLength(bytes[offset], 4);
  if (idLength === null) return null;
  const sizeLength = vintLength(bytes[offset + idLength], 8);
  if (sizeLength === null || offset + idLength + sizeLength > bytes.length) return null;
  const sizeOffset = offset + idLength;
  const size = readVint(bytes, sizeOffset, sizeLength);
  return {
    id: readUnsigned(bytes, offset, sizeOffset),
    contentBytes: size === 2 ** (7 * sizeLength) - 1 ? null : size,
    headerBytes: idLength + sizeLength,
  };
}

/** A child element; `start` and `end` delimit its content. */
export interface Element {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

/** Children of an element that are read; usual ones have at most 40. */
const MAX_CHILDREN = 200;

/** Iterates over the child elements in a span. @throws Error when they exceed it, or are too many */
export function* elements(bytes: Uint8Array, start: number, end: number): Generator<Element> {
  const span = bytes.subarray(0, end);
  let offset = start;
  for (let count = 0; offset < end; count++) {
    if (count >= MAX_CHILDREN) throw new Error('an element has too many children');
    const header = readElementHeader(span, offset);
    if (
      !header ||
      header.contentBytes === null ||
      offset + header.headerBytes + header.contentBytes > end
    ) {
      throw new Error('an element exceeds its parent');
    }
    const content = offset + header.headerBytes;
    offset = content + header.contentBytes;
    yield { id: header.id, start: content, end: offset };
  }
}

/** Longest number (RFC 8794, 7.2). */
const MAX_NUMBER_BYTES = 8;

/** Reads a big-endian number; exact up to 2^53. @throws Error when it is too long */
export function readUnsigned(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > MAX_NUMBER_BYTES) throw new Error('a number is too long');
  let value = 0;
  for (let offset = start; offset < end; offset++) value = value * 256 + (bytes[offset] ?? 0);
  return value;
}

/** Reads a floating-point number of 4 or 8 bytes (RFC 8794, 7.3). @throws Error for another length */
export function readFloat(bytes: Uint8Array, start: number, end: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, end - start);
  if (view.byteLength === 4) return view.getFloat32(0);
  if (view.byteLength === 8) return view.getFloat64(0);
  throw new Error('a number has an invalid length');
}

/** Reads a variable-size integer without its marker bit; exact up to 2^53. */
export function readVint(bytes: Uint8Array, offset: number, length: number): number {
  const first = (bytes[offset] ?? 0) & (0xff >> length);
  return first * 256 ** (length - 1) + readUnsigned(bytes, offset + 1, offset + length);
}

/** Length of a variable-size integer by its first byte; null without that byte. */
export function vintLength(first: number | undefined, maxLength: number): number | null {
  if (first === undefined) return null;
  const length = Math.clz32(first) - 23;
  if (length > maxLength) throw new Error('an element header is malformed');
  return length;
}
