import { z } from 'zod';
import type { Epoch, Piece, Segment, TrackBytes, TrackId } from '../segment.ts';
import type { SegmentFile } from './file-names.ts';
import { packFile, readPackedTail } from './packed-file.ts';

const count = z.int().min(0);
const trackId = z.string().max(16);

const storedSegment = z.object({
  seq: count,
  epoch: count,
  startMs: z.number().min(0),
  durationMs: z.number().positive(),
  /** In the order of the payloads. */
  pieces: z
    .array(z.tuple([trackId, z.number(), z.number().min(0), count]))
    .min(1)
    .max(32),
});

const trackFields = {
  id: trackId,
  codec: z.string().max(64),
  timescale: count,
  bandwidth: z.number(),
};
const storedEpoch = z.object({
  number: count,
  startMs: z.number().min(0),
  tracks: z
    .array(
      z.discriminatedUnion('kind', [
        z.object({
          kind: z.literal('video'),
          ...trackFields,
          width: count,
          height: count,
          frameRate: z.tuple([z.number(), z.number()]),
        }),
        z.object({
          kind: z.literal('audio'),
          ...trackFields,
          sampleRate: z.number(),
          channels: z.number(),
        }),
      ]),
    )
    .min(1)
    .max(32),
  inits: z.array(z.tuple([trackId, count])).max(32),
});

export interface PackedSegment {
  readonly file: SegmentFile;
  readonly chunks: readonly Uint8Array[];
}

/** Packs a segment: the bytes of its tracks, in the order of its pieces. */
export function packSegment(segment: Segment, bytes: TrackBytes): PackedSegment {
  const { seq, epoch, startMs, durationMs } = segment;
  const pieces = [...segment.pieces].map(([track, piece]) => {
    const { startTicks, durationTicks, byteLength } = piece;
    return [track, startTicks, durationTicks, byteLength];
  });
  const payloads = [...segment.pieces.keys()].map((track) => bytes.get(track) ?? new Uint8Array());
  const chunks = packFile(payloads, { seq, epoch, startMs, durationMs, pieces });
  const file = {
    seq,
    epoch,
    startMs: Math.floor(startMs),
    durationMs: Math.ceil(durationMs),
    bytes: chunks.reduce((sum, part) => sum + part.byteLength, 0),
  };
  return { file, chunks };
}

/** @returns null when the file is incomplete or contradicts its name */
export function parseSegmentFile(
  tail: Uint8Array,
  fileBytes: number,
  file: SegmentFile,
): Segment | null {
  const contents = readPackedTail(tail, fileBytes);
  const parsed = storedSegment.safeParse(contents?.metadata);
  if (!contents || !parsed.success) return null;
  const { pieces, ...segment } = parsed.data;
  const bytes = pieces.reduce((sum, [, , , byteLength]) => sum + byteLength, 0);
  if (bytes !== contents.payloadBytes) return null;
  if (segment.seq !== file.seq || segment.epoch !== file.epoch) return null;
  return {
    ...segment,
    pieces: new Map(
      pieces.map(([track, startTicks, durationTicks, byteLength]): [TrackId, Piece] => [
        track,
        { startTicks, durationTicks, byteLength },
      ]),
    ),
  };
}

/** Byte range of a track in the file of a segment; null when it has no such track. */
export function trackByteRange(
  segment: Segment,
  track: TrackId,
): [from: number, to: number] | null {
  let from = 0;
  for (const [id, { byteLength }] of segment.pieces) {
    if (id === track) return [from, from + byteLength];
    from += byteLength;
  }
  return null;
}

export function packEpoch({ number, startMs, tracks, inits }: Epoch): Uint8Array[] {
  const metadata = {
    number,
    startMs,
    tracks,
    inits: [...inits].map(([id, { byteLength }]) => [id, byteLength]),
  };
  return packFile([...inits.values()], metadata);
}

/** @returns null when the file is incomplete or invalid */
export function parseEpochFile(file: Uint8Array): Epoch | null {
  const contents = readPackedTail(file, file.byteLength);
  const parsed = storedEpoch.safeParse(contents?.metadata);
  if (!contents || !parsed.success) return null;
  const { number, startMs, tracks, inits } = parsed.data;
  const bytes = inits.reduce((sum, [, byteLength]) => sum + byteLength, 0);
  if (bytes !== contents.payloadBytes) return null;
  let from = 0;
  const initByTrack = new Map<TrackId, Uint8Array>();
  for (const [track, byteLength] of inits) {
    initByTrack.set(track, file.slice(from, from + byteLength));
    from += byteLength;
  }
  return { number, startMs, tracks, inits: initByTrack };
}
