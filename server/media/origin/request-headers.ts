/** A byte range; `to` is exclusive. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

const RANGE = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i;

/**
 * Parses a `Range` header (RFC 9110, section 14).
 * @param size of the representation, bytes
 * @returns null to send the whole representation: no header, another unit, several ranges (which a
 *   server may ignore, 14.2) or invalid; `unsatisfiable` to respond with 416
 */
export function parseRange(
  header: string | null,
  size: number,
): ByteRange | 'unsatisfiable' | null {
  const match = header === null ? null : RANGE.exec(header);
  if (!match) return null;
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return null;
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { from: size - length, to: size };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return null;
  if (from >= size) return 'unsatisfiable';
  return { from, to: last === '' ? size : Math.min(Number(last) + 1, size) };
}

/** Whether `If-None-Match` lists an entity tag, by weak comparison (RFC 9110, 8.8.3.2). */
export function matchesEtag(list: string | null, etag: string): boolean {
  if (list === null) return false;
  if (list.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  return list.split(',').some((each) => each.trim().replace(/^W\//, '') === opaque);
}

/** Whether an `Accept-Encoding` header allows gzip (RFC 9110, 12.5.3). */
export function acceptsGzip(header: string | null): boolean {
  if (header === null) return false;
  return header.split(',').some((part) => {
    const [name = '', weight = 'q=1'] = part.toLowerCase().split(';');
    return name.trim() === 'gzip' && !/^\s*q\s*=\s*0(?:\.0*)?\s*$/.test(weight);
  });
}
