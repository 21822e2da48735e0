import { z } from 'zod';
import type { Epoch, Piece, PieceBytes, Segment, TrackId } from '../segment.ts';
import { packed, saidIn } from './packed-file.ts';
import type { SegmentFile } from './stored-names.ts';

const count = z.int().min(0);
const trackId = z.string().max(16);

const storedSegment = z.object({
  seq: count,
  epoch: count,
  startMs: z.number().min(0),
  durationMs: z.number().positive(),
  /** In the order of their bytes in the file. */
  pieces: z
    .array(z.tuple([trackId, z.number(), z.number().min(0), count]))
    .min(1)
    .max(32),
});

const anyTrack = {
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
          ...anyTrack,
          width: count,
          height: count,
          frameRate: z.tuple([z.number(), z.number()]),
        }),
        z.object({
          kind: z.literal('audio'),
          ...anyTrack,
          sampleRate: z.number(),
          channels: z.number(),
        }),
      ]),
    )
    .min(1)
    .max(32),
  inits: z.array(z.tuple([trackId, count])).max(32),
});

/** A file and what goes into it. */
export interface SegmentToWrite {
  readonly file: SegmentFile;
  readonly parts: readonly Uint8Array[];
}

/** The file of a segment: the bytes of its tracks in the order of its pieces. */
export function segmentToWrite(segment: Segment, bytes: PieceBytes): SegmentToWrite {
  const { seq, epoch, startMs, durationMs } = segment;
  const pieces = [...segment.pieces].map(([track, { startTicks, durationTicks, byteLength }]) => [
    track,
    startTicks,
    durationTicks,
    byteLength,
  ]);
  const payloads = [...segment.pieces.keys()].map((track) => bytes.get(track) ?? new Uint8Array());
  const parts = packed(payloads, { seq, epoch, startMs, durationMs, pieces });
  const file = {
    seq,
    epoch,
    startMs: Math.floor(startMs),
    durationMs: Math.ceil(durationMs),
    bytes: parts.reduce((sum, part) => sum + part.byteLength, 0),
  };
  return { file, parts };
}

/** @returns null when the file is not whole, or not what its name says */
export function segmentIn(tail: Uint8Array, fileBytes: number, file: SegmentFile): Segment | null {
  const found = saidIn(tail, fileBytes);
  const parsed = storedSegment.safeParse(found?.said);
  if (!found || !parsed.success) return null;
  const { pieces, ...segment } = parsed.data;
  const bytes = pieces.reduce((sum, [, , , byteLength]) => sum + byteLength, 0);
  if (bytes !== found.payloadBytes) return null;
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

/** Where a track's bytes are in the file of a segment; null when it has no such track. */
export function placeOf(segment: Segment, track: TrackId): [from: number, to: number] | null {
  let from = 0;
  for (const [id, { byteLength }] of segment.pieces) {
    if (id === track) return [from, from + byteLength];
    from += byteLength;
  }
  return null;
}

/** The file of an epoch: its init segments. */
export function epochParts({ number, startMs, tracks, inits }: Epoch): Uint8Array[] {
  const said = {
    number,
    startMs,
    tracks,
    inits: [...inits].map(([id, { byteLength }]) => [id, byteLength]),
  };
  return packed([...inits.values()], said);
}

/** @returns null when the file is not whole */
export function epochIn(file: Uint8Array): Epoch | null {
  const found = saidIn(file, file.byteLength);
  const parsed = storedEpoch.safeParse(found?.said);
  if (!found || !parsed.success) return null;
  const { number, startMs, tracks, inits } = parsed.data;
  const bytes = inits.reduce((sum, [, byteLength]) => sum + byteLength, 0);
  if (bytes !== found.payloadBytes) return null;
  let from = 0;
  const initOf = new Map<TrackId, Uint8Array>();
  for (const [track, byteLength] of inits) {
    initOf.set(track, file.slice(from, from + byteLength));
    from += byteLength;
  }
  return { number, startMs, tracks, inits: initOf };
}
