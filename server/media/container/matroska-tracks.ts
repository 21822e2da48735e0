import { elements, readFloat, readUnsigned } from './ebml.ts';

/** Element ids of RFC 9559 that affect timestamps. */
const ID = {
  timestampScale: 0x2ad7b1,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  codecDelay: 0x56aa,
  trackTimestampScale: 0x23314f,
} as const;

const VIDEO = 1;
const AUDIO = 2;
/** A source has one video and one audio track, or a few more. */
const MAX_TRACKS = 64;

export interface MatroskaTracks {
  /** Number of the first video track; null without one. */
  readonly video: number | null;
  /** Numbers of the audio tracks. */
  readonly audio: ReadonlySet<number>;
  /** Codec delay by track number, ns: subtracted from block timestamps. */
  readonly delaysNs: ReadonlyMap<number, number>;
}

/** Reads the Tracks element. @param start offset of its content */
export function readTracks(bytes: Uint8Array, start: number): MatroskaTracks {
  let video: number | null = null;
  const audio = new Set<number>();
  const delaysNs = new Map<number, number>();
  let entries = 0;
  for (const entry of elements(bytes, start, bytes.length)) {
    if (entry.id !== ID.trackEntry) continue;
    if (++entries > MAX_TRACKS) throw new Error('it has too many tracks');
    const values = new Map<number, number>();
    for (const { id, start, end } of elements(bytes, entry.start, entry.end)) {
      if (id === ID.trackNumber || id === ID.trackType || id === ID.codecDelay) {
        values.set(id, readUnsigned(bytes, start, end));
      }
      // Deprecated. ffmpeg multiplies the times of the track by it, so tracks would drift apart.
      if (id === ID.trackTimestampScale && readFloat(bytes, start, end) !== 1)
        throw new Error('a track has its own timestamp scale');
    }
    const number = values.get(ID.trackNumber) ?? 0;
    if (values.get(ID.trackType) === VIDEO) video ??= number;
    if (values.get(ID.trackType) === AUDIO) audio.add(number);
    delaysNs.set(number, values.get(ID.codecDelay) ?? 0);
  }
  return { video, audio, delaysNs };
}

/** Reads the timestamp scale, ns per tick. @param start offset of the Info element's content */
export function readTimestampScale(bytes: Uint8Array, start: number): number {
  for (const { id, start: from, end } of elements(bytes, start, bytes.length)) {
    if (id === ID.timestampScale) return readUnsigned(bytes, from, end) || DEFAULT_SCALE_NS;
  }
  return DEFAULT_SCALE_NS;
}

export const DEFAULT_SCALE_NS = 1_000_000;
