/** A box (ISO/IEC 14496-12), by its offsets in the bytes that contain it. */
export interface Box {
  /** Four-character code. */
  readonly type: string;
  readonly start: number;
  /** Offset after the header. */
  readonly contentStart: number;
  readonly end: number;
}

/** The header of a box. */
export interface BoxHeader {
  readonly type: string;
  /** Size of the header, bytes. */
  readonly headerBytes: number;
  /** Size of the whole box, bytes; 0: up to the end of the file. */
  readonly totalBytes: number;
}

/** @returns null when the bytes end within the header */
export function readBoxHeader(bytes: Uint8Array, at: number, end: number): BoxHeader | null {
  if (end - at < 8) return null;
  const size = uint32(bytes, at);
  const type = readFourCc(bytes, at + 4);
  if (size !== 1) return { type, headerBytes: 8, totalBytes: size };
  if (end - at < 16) return null;
  const large = uint32(bytes, at + 8) * 2 ** 32 + uint32(bytes, at + 12);
  return { type, headerBytes: 16, totalBytes: large };
}

/** Iterates over the boxes in a range. @throws Error when a box exceeds the range */
export function* boxes(bytes: Uint8Array, start: number, end: number): Generator<Box> {
  let at = start;
  while (at < end) {
    const head = readBoxHeader(bytes, at, end);
    if (!head || head.totalBytes < head.headerBytes || at + head.totalBytes > end) {
      throw new Error('invalid MP4: a box exceeds its parent');
    }
    const boxEnd = at + head.totalBytes;
    yield { type: head.type, start: at, contentStart: at + head.headerBytes, end: boxEnd };
    at = boxEnd;
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
    const inner = findBox(bytes, box.contentStart, box.end, type);
    if (!inner) throw new Error(`invalid MP4: ${type} is missing`);
    box = inner;
  }
  return box;
}

/** Reads a big-endian integer. @throws Error past the end, as the functions below do */
export function uint32(bytes: Uint8Array, at: number): number {
  return uint16(bytes, at) * 65_536 + uint16(bytes, at + 2);
}

export function uint16(bytes: Uint8Array, at: number): number {
  return uint8(bytes, at) * 256 + uint8(bytes, at + 1);
}

export function uint8(bytes: Uint8Array, at: number): number {
  const value = bytes[at];
  if (value === undefined) throw new Error('invalid MP4: a box is too short');
  return value;
}

/** Reads a signed integer; ffmpeg writes negative times. */
export function int64(bytes: Uint8Array, at: number): number {
  return (uint32(bytes, at) | 0) * 2 ** 32 + uint32(bytes, at + 4);
}

export function readFourCc(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(
    uint8(bytes, at),
    uint8(bytes, at + 1),
    uint8(bytes, at + 2),
    uint8(bytes, at + 3),
  );
}
