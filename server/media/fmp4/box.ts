/** A box (ISO/IEC 14496-12), by its offsets in the bytes that contain it. */
export interface Box {
  /** Four-character code. */
  readonly type: string;
  readonly start: number;
  /** Offset after the header. */
  readonly contentStart: number;
  readonly end: number;
}

export interface BoxHeader {
  readonly type: string;
  readonly headerBytes: number;
  /** Size of the whole box, bytes; 0: up to the end of the file. */
  readonly totalBytes: number;
}

/** @returns null when the bytes end within the header */
export function readBoxHeader(bytes: Uint8Array, offset: number, end: number): BoxHeader | null {
  if (end - offset < 8) return null;
  const size = uint32(bytes, offset);
  const type = readFourCc(bytes, offset + 4);
  if (size !== 1) return { type, headerBytes: 8, totalBytes: size };
  if (end - offset < 16) return null;
  const large = uint32(bytes, offset + 8) * 2 ** 32 + uint32(bytes, offset + 12);
  return { type, headerBytes: 16, totalBytes: large };
}

/** Iterates over the boxes in a range. @throws Error when a box exceeds the range */
export function* boxes(bytes: Uint8Array, start: number, end: number): Generator<Box> {
  let offset = start;
  while (offset < end) {
    const head = readBoxHeader(bytes, offset, end);
    if (!head || head.totalBytes < head.headerBytes || offset + head.totalBytes > end) {
      throw new Error('invalid MP4: a box exceeds its parent');
    }
    const boxEnd = offset + head.totalBytes;
    yield { type: head.type, start: offset, contentStart: offset + head.headerBytes, end: boxEnd };
    offset = boxEnd;
  }
}

/** The first box of a type in a range. */
export function findBox(bytes: Uint8Array, start: number, end: number, type: string): Box | null {
  for (const box of boxes(bytes, start, end)) if (box.type === type) return box;
  return null;
}

/** The descendant of a box at a path of types. @throws Error when it is missing */
export function requireBox(bytes: Uint8Array, parent: Box, ...path: readonly string[]): Box {
  let box = parent;
  for (const type of path) {
    const child = findBox(bytes, box.contentStart, box.end, type);
    if (!child) throw new Error(`invalid MP4: ${type} is missing`);
    box = child;
  }
  return box;
}

/** Reads a big-endian integer. @throws Error past the end, as the functions below do */
export function uint32(bytes: Uint8Array, offset: number): number {
  return uint16(bytes, offset) * 65_536 + uint16(bytes, offset + 2);
}

export function uint16(bytes: Uint8Array, offset: number): number {
  return uint8(bytes, offset) * 256 + uint8(bytes, offset + 1);
}

export function uint8(bytes: Uint8Array, offset: number): number {
  const value = bytes[offset];
  if (value === undefined) throw new Error('invalid MP4: a box is too short');
  return value;
}

/** Reads a signed integer; ffmpeg writes negative times. */
export function int64(bytes: Uint8Array, offset: number): number {
  return (uint32(bytes, offset) | 0) * 2 ** 32 + uint32(bytes, offset + 4);
}

export function readFourCc(bytes: Uint8Array, offset: number): string {
  return String.fromCharCode(
    uint8(bytes, offset),
    uint8(bytes, offset + 1),
    uint8(bytes, offset + 2),
    uint8(bytes, offset + 3),
  );
}
