/** How an element of EBML begins (RFC 8794). */
export interface ElementHead {
  /** With its marker bits, as in the tables of RFC 9559. */
  readonly id: number;
  /** Of the content, in bytes; null: unknown. */
  readonly contentBytes: number | null;
  /** Of id and size, in bytes. */
  readonly headBytes: number;
}

/**
 * @returns null when the bytes end before the head does
 * @throws Error when no element begins like this
 */
export function elementHead(bytes: Uint8Array, at: number): ElementHead | null {
  const idLength = vintLength(bytes[at], 4);
  if (idLength === null) return null;
  const sizeLength = vintLength(bytes[at + idLength], 8);
  if (sizeLength === null || at + idLength + sizeLength > bytes.length) return null;
  const sizeAt = at + idLength;
  const size = vint(bytes, sizeAt, sizeLength);
  return {
    id: unsigned(bytes, at, sizeAt),
    contentBytes: size === 2 ** (7 * sizeLength) - 1 ? null : size,
    headBytes: idLength + sizeLength,
  };
}

/** An element inside another that is whole. */
export interface Element {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

/** The elements that fill this span. @throws Error when they do not fit into it */
export function* elements(bytes: Uint8Array, start: number, end: number): Generator<Element> {
  const span = bytes.subarray(0, end);
  let at = start;
  while (at < end) {
    const head = elementHead(span, at);
    if (!head || head.contentBytes === null || at + head.headBytes + head.contentBytes > end) {
      throw new Error('an element does not fit into the one around it');
    }
    const content = at + head.headBytes;
    at = content + head.contentBytes;
    yield { id: head.id, start: content, end: at };
  }
}

/** Big-endian; exact up to 2^53. */
export function unsigned(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 256 + (bytes[at] ?? 0);
  return value;
}

/** A number of variable length, without its marker bit; exact up to 2^53. */
export function vint(bytes: Uint8Array, at: number, length: number): number {
  const first = (bytes[at] ?? 0) & (0xff >> length);
  return first * 256 ** (length - 1) + unsigned(bytes, at + 1, at + length);
}

/** How many bytes a number of variable length takes, from its first; null without that one. */
export function vintLength(first: number | undefined, most: number): number | null {
  if (first === undefined) return null;
  const length = Math.clz32(first) - 23;
  if (length > most) throw new Error('no element begins like this');
  return length;
}
