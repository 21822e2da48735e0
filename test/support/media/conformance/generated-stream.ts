import type { Fragment } from '../../../../server/media/fmp4/fragment.ts';
import {
  type Epoch,
  epochName,
  type Part,
  type Presentation,
  type Segment,
  type Track,
  type TrackId,
} from '../../../../server/media/segment.ts';
import {
  Segmenter,
  type SegmenterEvent,
  type SourceTimeline,
} from '../../../../server/media/segmenter.ts';
import { manifestText, masterPlaylistText, mediaPlaylistText } from '../playlist-texts.ts';
import type { HlsSnapshot } from './hls-conformance.ts';

export interface GeneratedStreamOptions {
  readonly partMs?: number | null;
  readonly dvrMs?: number | null;
}

// The parts of this many newest segments remain available.
const PART_SEGMENTS = 8;

/** A stream that the service's segmenter and playlists generate in memory from fragments. */
export class GeneratedStream {
  version = 0;
  isEnded = false;
  readonly segmentMs = 1_000;
  readonly latencyMs = 4_000;
  readonly partMs: number | null;
  readonly dvrMs: number | null;
  epochs: Epoch[] = [];
  segments: Segment[] = [];
  readonly parts = new Map<number, Part[]>();
  private readonly files = new Map<string, Uint8Array>();
  private segmenter: Segmenter | null = null;
  private nextEpoch: Omit<Epoch, 'startMs'> | null = null;

  constructor({ partMs = null, dvrMs = null }: GeneratedStreamOptions = {}) {
    this.partMs = partMs;
    this.dvrMs = dvrMs;
  }

  begin(
    tracks: readonly Track[],
    inits: ReadonlyMap<TrackId, Uint8Array>,
    timeline: SourceTimeline,
  ): void {
    const last = this.segments.at(-1);
    const epoch = (this.epochs.at(-1)?.number ?? -1) + 1;
    this.nextEpoch = { number: epoch, tracks, inits };
    this.segmenter = new Segmenter({
      epoch,
      firstSeq: (last?.seq ?? -1) + 1,
      notBeforeMs: last ? last.startMs + last.durationMs : 0,
      segmentMs: this.segmentMs,
      partMs: this.partMs,
      tracks,
      timeline,
    });
  }

  push(track: TrackId, fragment: Fragment): void {
    this.apply(this.segmenter?.push(track, fragment) ?? []);
  }

  finish(): void {
    this.apply(this.segmenter?.finish() ?? []);
    this.segmenter = null;
  }

  /** Replaces segments by gaps, as a full disk does. */
  lose(seqs: readonly number[]): void {
    this.segments = this.segments.map((segment) => {
      if (!seqs.includes(segment.seq)) return segment;
      const epoch = this.epochs.find(({ number }) => number === segment.epoch) as Epoch;
      for (const id of segment.pieces.keys()) {
        this.files.delete(`${id}/${epochName(epoch)}-${segment.seq}.m4s`);
      }
      return { ...segment, pieces: new Map() };
    });
    this.version++;
  }

  end(): void {
    this.isEnded = true;
    this.version++;
  }

  presentation(): Presentation {
    const { version, epochs, segments, parts, isEnded } = this;
    const { segmentMs, partMs, latencyMs, dvrMs } = this;
    const settings = { segmentMs, partMs, latencyMs, dvrMs };
    return { version, epochs, segments, parts, isEnded, reopenedMs: null, ...settings };
  }

  /** Reads a file as a client; null for a missing one. */
  readonly read = (path: string): Uint8Array | null => this.files.get(path) ?? null;

  hls(): HlsSnapshot {
    const presentation = this.presentation();
    const ids = presentation.epochs.at(-1)?.tracks.map(({ id }) => id) ?? [];
    const deltas = new Map<string, string>();
    const media = ids.map((id): [string, string] => {
      const delta = mediaPlaylistText(presentation, id, true) ?? '';
      if (delta.includes('#EXT-X-SKIP')) deltas.set(`${id}.m3u8`, delta);
      return [`${id}.m3u8`, mediaPlaylistText(presentation, id) ?? ''];
    });
    return { master: masterPlaylistText(presentation) ?? '', media: new Map(media), deltas };
  }

  dash(): string {
    return manifestText(this.presentation()) ?? '';
  }

  /** Service time at which the newest segment ends. */
  endMs(): number {
    const last = this.segments.at(-1);
    return last ? last.startMs + last.durationMs : 0;
  }

  private apply(events: readonly SegmenterEvent[]): void {
    for (const event of events) {
      if (event.kind === 'begin') this.addEpoch(event.startMs);
      else if (event.kind === 'part') this.addPart(event);
      else this.addSegment(event);
      this.version++;
    }
  }

  private addEpoch(startMs: number): void {
    if (!this.nextEpoch) return;
    this.epochs.push({ ...this.nextEpoch, startMs });
    for (const [id, init] of this.nextEpoch.inits) {
      this.files.set(`${id}/init-${this.newestEpochName()}.mp4`, init);
    }
  }

  /** Name of the newest epoch. */
  private newestEpochName(): number {
    return epochName(this.epochs.at(-1) as Epoch);
  }

  private addPart({ seq, part, bytes }: Extract<SegmenterEvent, { kind: 'part' }>): void {
    const parts = this.parts.get(seq) ?? [];
    this.parts.set(seq, parts);
    parts.push(part);
    this.parts.delete(seq - PART_SEGMENTS);
    for (const [id, piece] of bytes)
      this.files.set(`${id}/${this.newestEpochName()}-${seq}.${part.index}.m4s`, piece);
  }

  private addSegment({ segment, bytes }: Extract<SegmenterEvent, { kind: 'segment' }>): void {
    this.segments.push(segment);
    for (const [id, piece] of bytes)
      this.files.set(`${id}/${this.newestEpochName()}-${segment.seq}.m4s`, piece);
    if (this.dvrMs === null) return;
    const fromMs = this.endMs() - this.dvrMs;
    this.segments = this.segments.filter(
      ({ startMs, durationMs }) => startMs + durationMs > fromMs,
    );
    const first = this.segments[0]?.epoch ?? 0;
    this.epochs = this.epochs.filter(({ number }) => number >= first);
  }
}

/** A source timeline with a constant offset to service time. */
export function steadyTimeline(offsetMs: number): SourceTimeline {
  return { advance: () => offsetMs, offsetFor: () => offsetMs };
}
