/** Bytes from one to another, without that. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

const RANGE = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i;

/**
 * What a `Range` asks of something so long (RFC 9110, section 14).
 * @returns null for the whole: of another unit, of many ranges (which a server may answer so,
 *   14.2) or not understood; `unsatisfiable` when there is nothing where it asks (416)
 */
export function rangeOf(header: string | null, size: number): ByteRange | 'unsatisfiable' | null {
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

/**
 * Whether a list of entity tags (`If-None-Match`) has this one, by weak comparison (RFC 9110,
 * 8.8.3.2).
 * @param etag as it is sent
 */
export function hasTag(list: string | null, etag: string): boolean {
  if (list === null) return false;
  if (list.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  return list.split(',').some((each) => each.trim().replace(/^W\//, '') === opaque);
}

/**
 * Whether a client takes gzip (RFC 9110, 12.5.3).
 * @param header its `Accept-Encoding`
 */
export function takesGzip(header: string | null): boolean {
  if (header === null) return false;
  return header.split(',').some((part) => {
    const [name = '', weight = 'q=1'] = part.toLowerCase().split(';');
    return name.trim() === 'gzip' && !/^\s*q\s*=\s*0(?:\.0*)?\s*$/.test(weight);
  });
}
