/** A box of ISO/IEC 14496-12: where it is in the bytes that it was found in. */
export interface Box {
  /** Four characters. */
  readonly type: string;
  readonly start: number;
  /** Where its content begins. */
  readonly contentStart: number;
  readonly end: number;
}

/** How a box begins. */
export interface BoxHeader {
  readonly type: string;
  /** Of size and type, in bytes. */
  readonly headerBytes: number;
  /** Of the whole box, in bytes; 0: to the end of the file. */
  readonly totalBytes: number;
}

/** @returns null when the bytes end before the head does */
export function readBoxHeader(bytes: Uint8Array, at: number, end: number): BoxHeader | null {
  if (end - at < 8) return null;
  const size = uint32(bytes, at);
  const type = readFourCc(bytes, at + 4);
  if (size !== 1) return { type, headerBytes: 8, totalBytes: size };
  if (end - at < 16) return null;
  const large = uint32(bytes, at + 8) * 2 ** 32 + uint32(bytes, at + 12);
  return { type, headerBytes: 16, totalBytes: large };
}

/** The boxes that fill this span. @throws Error when they do not fit into it */
export function* boxes(bytes: Uint8Array, start: number, end: number): Generator<Box> {
  let at = start;
  while (at < end) {
    const head = readBoxHeader(bytes, at, end);
    if (!head || head.totalBytes < head.headerBytes || at + head.totalBytes > end) {
      throw new Error('this is no MP4: a box does not fit into the one around it');
    }
    const boxEnd = at + head.totalBytes;
    yield { type: head.type, start: at, contentStart: at + head.headerBytes, end: boxEnd };
    at = boxEnd;
  }
}

/** The first box of this type in this span. */
export function findBox(bytes: Uint8Array, start: number, end: number, type: string): Box | null {
  for (const box of boxes(bytes, start, end)) if (box.type === type) return box;
  return null;
}

/** The box that this path of types leads to, from a box's content. @throws Error without it */
export function requireBox(bytes: Uint8Array, parent: Box, ...path: readonly string[]): Box {
  let box = parent;
  for (const type of path) {
    const inner = findBox(bytes, box.contentStart, box.end, type);
    if (!inner) throw new Error(`this is no MP4: ${type} is missing`);
    box = inner;
  }
  return box;
}

/** Big-endian. @throws Error past the end, as the others do */
export function uint32(bytes: Uint8Array, at: number): number {
  return uint16(bytes, at) * 65_536 + uint16(bytes, at + 2);
}

export function uint16(bytes: Uint8Array, at: number): number {
  return uint8(bytes, at) * 256 + uint8(bytes, at + 1);
}

export function uint8(bytes: Uint8Array, at: number): number {
  const value = bytes[at];
  if (value === undefined) throw new Error('this is no MP4: a box is too short');
  return value;
}

/** Two's complement: ffmpeg writes a time before 0 as such, too. */
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
