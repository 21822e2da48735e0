import type { MediaConfig } from '../platform/media-settings.ts';
import { runtime } from '../platform/runtime.ts';
import type { SegmentSink } from './packager/packager.ts';
import { dvrWindow } from './playlist/dvr-window.ts';
import { epochsOf } from './playlist/epochs.ts';
import {
  type Epoch,
  epochName,
  type Part,
  type PlayableStream,
  type Presentation,
  type TrackBytes,
  type TrackId,
} from './segment.ts';
import type { StreamSegments } from './store/segment-store.ts';
import { msOf } from './track-queue.ts';

/** What a channel needs to know of its stream. */
export interface ChannelStream {
  /** Whether its whole video is stored, as long as there is disk space. */
  readonly recording: boolean;
  /** When it was started, Unix ms; null: viewers get no video, and what a source sends is a preview (M-32). */
  readonly started: number | null;
  /** When its end was last taken back, Unix ms; null: never. */
  readonly reopened: number | null;
}

/**
 * Target duration of a low-latency part, ms: three parts a second. hls.js then plays 2.1 s behind
 * the camera; with two parts a second it is 2.6 s.
 */
export const PART_MS = 334;

// A playlist lists parts for three target durations from its end. A player with an older playlist
// may still request earlier parts.
const SEGMENTS_WITH_PARTS = 8;

// Players that are late by more load whole segments. Those of 1080p are 16 MB a stream.
const PARTS_KEPT_MS = 30_000;

/** How far behind the camera players should play, ms. */
export function targetLatencyMs({ latency, segmentMs }: MediaConfig): number {
  return latency === 'low' ? 2.5 * segmentMs : 4 * segmentMs;
}

// Live playlists of a recording list at least this much of it: rendered and loaded each second, they
// must not grow with the show. A playlist of 2 h has 700 KB.
const RECORDING_WINDOW_MS = 7_200_000;

const NO_PARTS: Presentation['parts'] = new Map();

interface SegmentParts {
  /** The epoch that the parts belong to. */
  readonly epoch: Epoch | null;
  readonly list: Part[];
  readonly bytes: TrackBytes[];
}

/** What playlists list. */
type Listed = Pick<Presentation, 'epochs' | 'segments'>;

/** The video of one stream: serves what is playable and stores the segments of its source. */
export class Channel implements PlayableStream {
  account = '';
  private changeCount = 0;
  private readonly partsBySeq = new Map<number, SegmentParts>();
  private readonly partListsBySeq = new Map<number, readonly Part[]>();
  /** Called and forgotten at the next change. */
  private onNextChange = new Set<() => void>();
  private lastPartMs = 0;
  /** When the stream was started, Unix ms; null: not yet. */
  private startedMs: number | null = null;
  /** Whether the database said that a started stream has not started. */
  private isStartInDoubt = false;
  /** What live playlists list, while it is not everything. */
  private window: { readonly segmentsVersion: number; readonly listed: Listed } | null = null;

  constructor(
    readonly streamId: string,
    private readonly segments: StreamSegments,
    private readonly config: MediaConfig,
    private hasEnded: boolean,
    /** When the end was last taken back, Unix ms; null: never. */
    private reopenedMs: number | null,
  ) {}

  presentation(): Presentation {
    const { segmentMs, latency } = this.config;
    return {
      version: this.version(),
      ...this.listed(),
      parts: this.hasRemovedAll() ? NO_PARTS : this.partListsBySeq,
      isEnded: this.hasEnded,
      reopenedMs: this.reopenedMs,
      segmentMs,
      partMs: latency === 'low' ? PART_MS : null,
      latencyMs: targetLatencyMs(this.config),
      dvrMs: this.dvrMs(),
    };
  }

  init(epoch: number, track: TrackId): Uint8Array | null {
    return this.findEpoch(epoch)?.inits.get(track) ?? null;
  }

  segment(epoch: number, seq: number, track: TrackId): Uint8Array | Blob | null {
    const namedEpoch = this.findEpoch(epoch);
    return namedEpoch ? this.segments.read(namedEpoch.number, seq, track) : null;
  }

  part(epoch: number, seq: number, index: number, track: TrackId): Uint8Array | null {
    const parts = this.partsBySeq.get(seq);
    if (!parts?.epoch || epochName(parts.epoch) !== epoch || !this.partListsBySeq.has(seq)) {
      return null;
    }
    return parts.bytes[index]?.get(track) ?? null;
  }

  onChange(version: number, run: () => void): () => void {
    if (this.version() > version) run();
    else this.onNextChange.add(run);
    return () => this.onNextChange.delete(run);
  }

  /**
   * The sink that a packager writes this stream's segments to.
   * @param onSourceFailed called when the source cannot be encoded
   */
  sink(onSourceFailed: SegmentSink['onSourceFailed']): SegmentSink {
    const { segments } = this;
    return {
      nextEpoch: () => {
        const newest = segments.segments.at(-1);
        return {
          epoch: segments.nextEpoch,
          seq: segments.nextSeq,
          notBeforeMs: newest ? newest.startMs + newest.durationMs : 0,
        };
      },
      addEpoch: (epoch) => {
        this.removeParts(segments.nextSeq);
        segments.addEpoch(epoch);
      },
      addPart: (seq, part, bytes) => this.addPart(seq, part, bytes),
      addSegment: (segment, bytes) => {
        segments.add(segment, bytes);
        this.notifyChange();
      },
      onSourceFailed,
    };
  }

  /**
   * Applies the state of the stream. At the start a preview is removed, except for the segment in
   * which the stream starts. A source that starts its stream has none: what it sends in a burst may
   * count from before the start, and stays.
   */
  setStream({ recording, started, reopened }: ChannelStream): void {
    if (reopened !== this.reopenedMs) this.reopen(reopened);
    if (started === null) {
      this.setNotStarted();
      return;
    }
    this.isStartInDoubt = false;
    const wasPreview = this.segments.isPreview;
    const isStart = !this.isStarted();
    // Before the retention, which on disk says that a preview must still be removed.
    if (isStart && wasPreview) this.segments.removeBefore(started);
    this.setRecording(recording);
    if (!isStart) return;
    this.startedMs = wasPreview ? started : 0;
    for (const [seq, parts] of this.partsBySeq) {
      if (!this.isStartedBy(parts)) this.partListsBySeq.delete(seq);
    }
    this.notifyChange();
  }

  /** Whether viewers may see its video. */
  isStarted(): boolean {
    return this.startedMs !== null;
  }

  isEnded(): boolean {
    return this.hasEnded;
  }

  /** A database that was restored, or failed over, may not know the start of a running show any more. */
  private setNotStarted(): void {
    // A response from before the start may arrive after the start: the next one decides.
    if (this.isStarted() && !this.isStartInDoubt) {
      this.isStartInDoubt = true;
      return;
    }
    this.startedMs = null;
    this.segments.startPreview();
  }

  private setRecording(isRecording: boolean): void {
    // A restored database may not know the recording of a stream, until it ends there or goes on.
    const isCertain = isRecording || this.hasEnded || this.segments.hasNewSegments;
    if (!isCertain && this.segments.retention === 'recording') return;
    this.segments.setRetention(isRecording ? 'recording' : 'dvr');
  }

  private reopen(reopenedMs: number | null): void {
    this.reopenedMs = reopenedMs;
    this.hasEnded = false;
    this.notifyChange();
  }

  /** Marks the stream as ended in its playlists and writes what is left to disk. Idempotent. */
  async end(): Promise<void> {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.notifyChange();
    await this.segments.close(true);
  }

  /** Releases the parts some time after the last one: a channel without a source gets no more. */
  releaseOldParts(): void {
    if (this.partsBySeq.size === 0 || runtime.monotonicMs() - this.lastPartMs < PARTS_KEPT_MS)
      return;
    this.partsBySeq.clear();
    this.partListsBySeq.clear();
    // Playlists of an ended stream list no parts.
    if (!this.hasEnded) this.notifyChange();
  }

  private addPart(seq: number, part: Part, bytes: TrackBytes): void {
    const existing = part.index === 0 ? undefined : this.partsBySeq.get(seq);
    const epoch = this.segments.epochs.at(-1) ?? null;
    const parts = existing ?? { epoch, list: [], bytes: [] };
    this.partsBySeq.set(seq, parts);
    parts.list.push(part);
    parts.bytes.push(bytes);
    this.lastPartMs = runtime.monotonicMs();
    if (this.isStartedBy(parts)) this.partListsBySeq.set(seq, parts.list);
    this.removeParts(seq - SEGMENTS_WITH_PARTS);
    this.notifyChange();
  }

  /** Also removes parts of a failed encoder's last segment: the next encoder reuses its number. */
  private removeParts(seq: number): void {
    this.partsBySeq.delete(seq);
    this.partListsBySeq.delete(seq);
  }

  /** Whether parts reach the start of the stream: parts before it belong to the preview. */
  private isStartedBy({ epoch, list }: SegmentParts): boolean {
    const [id, piece] = [...(list.at(-1)?.pieces ?? [])][0] ?? [];
    const track = epoch?.tracks.find((each) => each.id === id);
    if (this.startedMs === null || !piece || !track) return true;
    return msOf(piece.startTicks + piece.durationTicks, track.timescale) > this.startedMs;
  }

  private dvrMs(): number {
    const { dvrMs } = this.config;
    return this.segments.retention === 'recording' ? Math.max(dvrMs, RECORDING_WINDOW_MS) : dvrMs;
  }

  private listed(): Listed {
    const { version, epochs, segments } = this.segments;
    if (this.hasEnded) return { epochs, segments };
    if (this.window?.segmentsVersion === version) return this.window.listed;
    const window = dvrWindow(segments, this.dvrMs());
    // Not kept without a copy: these arrays change in place.
    if (window === segments) return { epochs, segments };
    const listed = { epochs: epochsOf(epochs, window), segments: window };
    this.window = { segmentsVersion: version, listed };
    return listed;
  }

  /** Whether the start has removed all segments: playlists begin with the next complete one. */
  private hasRemovedAll(): boolean {
    return (
      this.startedMs !== null && this.segments.segments.length === 0 && this.segments.nextSeq > 0
    );
  }

  private findEpoch(name: number): Epoch | undefined {
    // Most viewers are near the end.
    return this.segments.epochs.findLast((epoch) => epochName(epoch) === name);
  }

  private version(): number {
    return this.changeCount + this.segments.version;
  }

  private notifyChange(): void {
    this.changeCount++;
    const runs = this.onNextChange;
    this.onNextChange = new Set();
    for (const run of runs) run();
  }
}
