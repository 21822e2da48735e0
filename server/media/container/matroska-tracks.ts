import { elements, unsigned } from './ebml.ts';

/** Ids of RFC 9559 that say how times are to be read. */
const ID = {
  timestampScale: 0x2ad7b1,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  codecDelay: 0x56aa,
} as const;

const VIDEO = 1;
/** A stream has a picture and a sound; some sources have a few more. */
const MAX_TRACKS = 64;

/** What the blocks of a file mean. */
export interface MatroskaTracks {
  /** The number of the first video track; null without one. */
  readonly video: number | null;
  /** How much earlier than it says a track's block is, in ns, by track number. */
  readonly delaysNs: ReadonlyMap<number, number>;
}

/** @param start of the content of the Tracks element */
export function readTracks(bytes: Uint8Array, start: number): MatroskaTracks {
  let video: number | null = null;
  const delaysNs = new Map<number, number>();
  for (const entry of elements(bytes, start, bytes.length)) {
    if (entry.id !== ID.trackEntry) continue;
    const values = new Map<number, number>();
    for (const { id, start, end } of elements(bytes, entry.start, entry.end)) {
      if (id === ID.trackNumber || id === ID.trackType || id === ID.codecDelay) {
        values.set(id, unsigned(bytes, start, end));
      }
    }
    const number = values.get(ID.trackNumber) ?? 0;
    if (values.get(ID.trackType) === VIDEO) video ??= number;
    delaysNs.set(number, values.get(ID.codecDelay) ?? 0);
    if (delaysNs.size > MAX_TRACKS) throw new Error('it has too many tracks');
  }
  return { video, delaysNs };
}

/** @param start of the content of the Info element @returns how many ns a tick lasts */
export function readTimestampScale(bytes: Uint8Array, start: number): number {
  for (const { id, start: from, end } of elements(bytes, start, bytes.length)) {
    if (id === ID.timestampScale) return unsigned(bytes, from, end) || DEFAULT_SCALE_NS;
  }
  return DEFAULT_SCALE_NS;
}

export const DEFAULT_SCALE_NS = 1_000_000;
