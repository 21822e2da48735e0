import { joined } from './byte-queue.ts';
import type { Fragment } from './fmp4/fragment.ts';
import { retimed } from './fmp4/retime.ts';
import type { Part, Piece, PieceBytes, Segment, TrackId } from './segment.ts';
import type { TrackQueue } from './track-queue.ts';

/** A track's share of the segment being made, in service time. */
interface Share {
  readonly startTicks: number;
  endTicks: number;
  readonly chunks: Uint8Array[];
}

/** Fragments that were taken together: a part, or what is left of the segment. */
interface Taken {
  readonly piece: Piece;
  readonly bytes: Uint8Array;
  readonly isSync: boolean;
}

/** The segment being made: fragments come in by source time and are kept in service time. */
export class OpenSegment {
  private readonly shares = new Map<TrackId, Share>();
  private parts = 0;

  /** @param offsetMs service time less source time, whole ms: the same for all of a segment */
  constructor(
    readonly seq: number,
    private readonly epoch: number,
    private readonly offsetMs: number,
  ) {}

  /** Whether each of these tracks has something here. */
  hasAll(queues: readonly TrackQueue[]): boolean {
    return queues.every(({ track }) => this.shares.has(track.id));
  }

  /** @param number what `retimed` asks for: of the next fragment of a track */
  take(
    queues: readonly TrackQueue[],
    cutMs: number,
    number: (track: TrackId) => number,
  ): Map<TrackId, Taken> {
    const taken = new Map<TrackId, Taken>();
    for (const queue of queues) {
      const fragments = queue.takeUntil(cutMs);
      const [first] = fragments;
      const last = fragments.at(-1);
      if (!first || !last) continue;
      const { id } = queue.track;
      const offset = offsetTicks(queue, this.offsetMs);
      const bytes = joined(
        fragments.map((one) => retimed(one, one.startTicks + offset, number(id))),
      );
      const startTicks = first.startTicks + offset;
      const endTicks = endOf(last) + offset;
      const share = this.shares.get(id) ?? { startTicks, endTicks, chunks: [] };
      this.shares.set(id, share);
      share.endTicks = endTicks;
      share.chunks.push(bytes);
      const piece = { startTicks, durationTicks: endTicks - startTicks, byteLength: bytes.length };
      taken.set(id, { piece, bytes, isSync: first.isSync });
    }
    return taken;
  }

  /** What was taken, as the next part. @param picture the track that says whether it stands alone */
  part(
    taken: ReadonlyMap<TrackId, Taken>,
    picture: TrackId,
  ): { readonly part: Part; readonly bytes: PieceBytes } {
    const entries = [...taken];
    return {
      part: {
        index: this.parts++,
        isIndependent: taken.get(picture)?.isSync ?? false,
        pieces: new Map(entries.map(([id, { piece }]) => [id, piece])),
      },
      bytes: new Map(entries.map(([id, { bytes }]) => [id, bytes])),
    };
  }

  /**
   * The segment, now that it is whole. What comes next begins where it ends: that tells the
   * duration, also where the offset changed or the source has a hole.
   * @param nextOffsetMs of the segment that follows; null: none does
   */
  close(
    queues: readonly TrackQueue[],
    picture: TrackQueue,
    nextOffsetMs: number | null,
  ): { readonly segment: Segment; readonly bytes: PieceBytes } {
    const pieces = new Map<TrackId, Piece>();
    const bytes = new Map<TrackId, Uint8Array>();
    for (const queue of queues) {
      const share = this.shares.get(queue.track.id);
      if (!share) continue;
      const { startTicks } = share;
      const next = nextOffsetMs === null ? null : queue.first;
      const endTicks = next
        ? next.startTicks + offsetTicks(queue, nextOffsetMs ?? 0)
        : share.endTicks;
      const all = joined(share.chunks);
      bytes.set(queue.track.id, all);
      pieces.set(queue.track.id, {
        startTicks,
        durationTicks: endTicks - startTicks,
        byteLength: all.length,
      });
    }
    const { startTicks, durationTicks } = pieces.get(picture.track.id) as Piece;
    return {
      segment: {
        seq: this.seq,
        epoch: this.epoch,
        startMs: picture.msOf(startTicks),
        durationMs: picture.msOf(durationTicks),
        pieces,
      },
      bytes,
    };
  }
}

function endOf({ startTicks, durationTicks }: Fragment): number {
  return startTicks + durationTicks;
}

function offsetTicks({ track }: TrackQueue, offsetMs: number): number {
  return Math.round((offsetMs * track.timescale) / 1_000);
}
