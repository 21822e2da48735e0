import { concatBytes } from './byte-queue.ts';
import type { Fragment } from './fmp4/fragment.ts';
import { retimeFragment } from './fmp4/retime.ts';
import type { Part, Piece, Segment, TrackBytes, TrackId } from './segment.ts';
import type { TrackQueue } from './track-queue.ts';

/** The data of a track in the open segment, in service time. */
interface TrackBuffer {
  readonly startTicks: number;
  endTicks: number;
  readonly chunks: Uint8Array[];
}

/** Fragments of a track that were taken together: a part, or the rest of the segment. */
interface TakenFragments {
  readonly piece: Piece;
  readonly bytes: Uint8Array;
  readonly isSync: boolean;
}

/** The segment under construction. Moves fragments from source time to service time. */
export class OpenSegment {
  private readonly buffers = new Map<TrackId, TrackBuffer>();
  private partCount = 0;

  /** @param offsetMs service time minus source time, whole ms; constant within a segment */
  constructor(
    readonly seq: number,
    private readonly epoch: number,
    private readonly offsetMs: number,
  ) {}

  /** Whether each of these tracks has data. */
  hasAll(queues: readonly TrackQueue[]): boolean {
    return queues.every(({ track }) => this.buffers.has(track.id));
  }

  /**
   * Takes the fragments before a cut from the queues.
   * @param nextSequenceNumber sequence number of a track's next fragment, for `retimeFragment`
   */
  take(
    queues: readonly TrackQueue[],
    cutMs: number,
    nextSequenceNumber: (track: TrackId) => number,
  ): Map<TrackId, TakenFragments> {
    const takenByTrack = new Map<TrackId, TakenFragments>();
    for (const queue of queues) {
      const fragments = queue.takeUntil(cutMs);
      const [first] = fragments;
      const last = fragments.at(-1);
      if (!first || !last) continue;
      const { id } = queue.track;
      const offset = offsetTicks(queue, this.offsetMs);
      const bytes = concatBytes(
        fragments.map((fragment) =>
          retimeFragment(fragment, fragment.startTicks + offset, nextSequenceNumber(id)),
        ),
      );
      const startTicks = first.startTicks + offset;
      const endTicks = endTicksOf(last) + offset;
      const buffer = this.buffers.get(id) ?? { startTicks, endTicks, chunks: [] };
      this.buffers.set(id, buffer);
      buffer.endTicks = endTicks;
      buffer.chunks.push(bytes);
      const piece = { startTicks, durationTicks: endTicks - startTicks, byteLength: bytes.length };
      takenByTrack.set(id, { piece, bytes, isSync: first.isSync });
    }
    return takenByTrack;
  }

  /** Creates the next part. @param videoTrack decides whether the part is independent */
  makePart(
    takenByTrack: ReadonlyMap<TrackId, TakenFragments>,
    videoTrack: TrackId,
  ): { readonly part: Part; readonly bytes: TrackBytes } {
    const entries = [...takenByTrack];
    return {
      part: {
        index: this.partCount++,
        isIndependent: takenByTrack.get(videoTrack)?.isSync ?? false,
        pieces: new Map(entries.map(([id, { piece }]) => [id, piece])),
      },
      bytes: new Map(entries.map(([id, { bytes }]) => [id, bytes])),
    };
  }

  /**
   * Completes the segment. It ends where the next fragment starts, also when the offset changes or
   * the source has a gap.
   * @param nextOffsetMs offset of the next segment; null: there is none
   */
  close(
    queues: readonly TrackQueue[],
    video: TrackQueue,
    nextOffsetMs: number | null,
  ): { readonly segment: Segment; readonly bytes: TrackBytes } {
    const pieces = new Map<TrackId, Piece>();
    const bytes = new Map<TrackId, Uint8Array>();
    for (const queue of queues) {
      const buffer = this.buffers.get(queue.track.id);
      if (!buffer) continue;
      const { startTicks } = buffer;
      const next = nextOffsetMs === null ? null : queue.first;
      const endTicks = next
        ? next.startTicks + offsetTicks(queue, nextOffsetMs ?? 0)
        : buffer.endTicks;
      const trackBytes = concatBytes(buffer.chunks);
      bytes.set(queue.track.id, trackBytes);
      pieces.set(queue.track.id, {
        startTicks,
        durationTicks: endTicks - startTicks,
        byteLength: trackBytes.length,
      });
    }
    const { startTicks, durationTicks } = pieces.get(video.track.id) as Piece;
    return {
      segment: {
        seq: this.seq,
        epoch: this.epoch,
        startMs: video.msOf(startTicks),
        durationMs: video.msOf(durationTicks),
        pieces,
      },
      bytes,
    };
  }
}

function endTicksOf({ startTicks, durationTicks }: Fragment): number {
  return startTicks + durationTicks;
}

function offsetTicks({ track }: TrackQueue, offsetMs: number): number {
  return Math.round((offsetMs * track.timescale) / 1_000);
}
