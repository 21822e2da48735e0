import type { Fragment } from './fmp4/fragment.ts';
import { OpenSegment } from './open-segment.ts';
import { longestPartMs, longestSegmentMs } from './playlist/target-duration.ts';
import type { Part, Segment, Track, TrackBytes, TrackId } from './segment.ts';
import { ALIGNMENT_TOLERANCE_MS, TrackQueue } from './track-queue.ts';

/** Maps source time to service time; the part of `Timeline` that segments need. */
export interface SourceTimeline {
  /**
   * Starts a segment at a source time, ms.
   * @returns service time minus source time from here on, whole ms; changes by 1 at most
   */
  advance(sourceMs: number): number;
  /** The offset at a source time, without a step. Before the first segment, an estimate. */
  offsetFor(sourceMs: number): number;
}

export interface SegmenterOptions {
  readonly epoch: number;
  /** Sequence number of the first segment. */
  readonly firstSeq: number;
  /** Service time at which the previous epoch ended, Unix ms; this one starts at a later key frame. */
  readonly notBeforeMs: number;
  /** Minimum duration of a segment, ms; it ends at the next key frame. */
  readonly segmentMs: number;
  /** Target duration of a part, ms; null: no parts. */
  readonly partMs: number | null;
  /** The first video track decides where segments start. */
  readonly tracks: readonly Track[];
  readonly timeline: SourceTimeline;
}

export type SegmenterEvent =
  /** Once, before all others. `startMs`: service time of the first frame, Unix ms. */
  | { readonly kind: 'begin'; readonly startMs: number }
  | { readonly kind: 'part'; readonly seq: number; readonly part: Part; readonly bytes: TrackBytes }
  | { readonly kind: 'segment'; readonly segment: Segment; readonly bytes: TrackBytes };

/** A source time at which all tracks are cut. */
interface Cut {
  readonly kind: 'begin' | 'part' | 'segment';
  readonly atMs: number;
  /** Service time minus source time from here on, whole ms. */
  readonly offsetMs: number;
}

/** Limits memory: pending fragments of 10 s of the default ladder take 45 MB at most. */
export const TRACK_SILENCE_MS_MAX = 10_000;
// There is a key frame every second; a new epoch may overlap the last by the source's latency.
const FIRST_KEY_FRAME_MS_MAX = 20_000;
// A larger step of the timeline would be visible.
const OFFSET_STEP_MS_MAX = 1;
// Rounding to whole ticks.
const ROUNDING_MS = 0.05;
// At the end, audio may be this much shorter than video.
const AUDIO_SHORTFALL_MS = 100;

/**
 * Groups the fragments of one epoch into segments and parts, with the same time span of every track,
 * in service time (SPEC M-11, M-12).
 *
 * A segment starts at a key frame of the first rendition, at least `segmentMs` after the previous
 * one (with a tolerance of half a frame). The other renditions have a fragment there too, and audio
 * is cut at the nearest fragment boundary. Within a segment all tracks move by the same whole number
 * of ms, which preserves their relative timing. Where the offset changes, by 1 ms at most, the last
 * frame of a segment lasts 1 ms more or less: a segment ends where the next one starts.
 */
export class Segmenter {
  private readonly queues: readonly TrackQueue[];
  private readonly video: TrackQueue;
  private readonly cuts: Cut[] = [];
  private readonly sequenceNumbers = new Map<TrackId, number>();
  private readonly halfFrameMs: number;
  private openSegment: OpenSegment | null = null;
  /** Source times of the newest segment and part start in the video track; null: none yet. */
  private current: { segmentMs: number; partMs: number; offsetMs: number } | null = null;
  private firstFragmentMs: number | null = null;
  /** Events to return. An error keeps them for `finish`: their fragments have left the queues. */
  private readonly events: SegmenterEvent[] = [];
  /** Source time of the cut at which a track has no key frame; null: the tracks are aligned. */
  private misalignedAtMs: number | null = null;

  constructor(private readonly options: SegmenterOptions) {
    this.queues = options.tracks.map((track) => new TrackQueue(track));
    const video = this.queues.find(({ track }) => track.kind === 'video');
    if (video?.track.kind !== 'video') throw new Error('a stream needs a video track');
    this.video = video;
    const [frames, seconds] = video.track.frameRate;
    this.halfFrameMs = (500 * seconds) / frames;
  }

  /**
   * Accepts the next fragment of a track.
   * @throws Error with a message for the log when the tracks form no playable timeline; `finish` then
   *   returns what is complete, and a new encoder must start
   */
  push(trackId: TrackId, fragment: Fragment): SegmenterEvent[] {
    const queue = this.queues.find(({ track }) => track.id === trackId);
    if (!queue) throw new Error(`unknown track ${trackId}`);
    this.firstFragmentMs ??= queue.msOf(fragment.startTicks);
    if (queue === this.video) this.pushVideo(fragment);
    else queue.push(fragment);
    this.applyCutsWhile((cut) => this.isReady(cut));
    this.checkSilence();
    return this.events.splice(0);
  }

  /**
   * Ends the input: completes the open segment where the shortest track ends, or where the tracks
   * stopped being aligned. Also returns the events before an error of `push`.
   */
  finish(): SegmenterEvent[] {
    if (this.misalignedAtMs === null) {
      this.applyCutsWhile(({ kind, atMs }) =>
        this.queues.every((queue) => (kind === 'begin' ? queue.isPast(atMs) : queue.reaches(atMs))),
      );
    }
    if (this.openSegment) this.finishSegment(this.openSegment);
    this.openSegment = null;
    return this.events.splice(0);
  }

  private finishSegment(openSegment: OpenSegment): void {
    const endMs = Math.min(
      this.misalignedAtMs ?? Number.POSITIVE_INFINITY,
      ...this.queues.map(
        ({ endMs, track }) => (endMs ?? 0) + (track.kind === 'audio' ? AUDIO_SHORTFALL_MS : 0),
      ),
    );
    const cutMs = this.video.endBefore(endMs + ALIGNMENT_TOLERANCE_MS);
    const lastPart = cutMs === null ? [] : this.takePart(openSegment, cutMs);
    if (!openSegment.hasAll(this.queues)) return;
    const closed = openSegment.close(this.queues, this.video, null);
    this.events.push(...lastPart, { kind: 'segment', ...closed });
  }

  private pushVideo(fragment: Fragment): void {
    const { video, current } = this;
    const startMs = video.msOf(fragment.startTicks);
    const endMs = startMs + video.msOf(fragment.durationTicks);
    if (!current) {
      video.push(fragment);
      this.tryStartEpoch(fragment, startMs, endMs);
      return;
    }
    const { segmentMs } = this.options;
    const elapsedMs = startMs - current.segmentMs;
    const startsSegment =
      fragment.isSync && elapsedMs >= segmentMs - this.halfFrameMs - ALIGNMENT_TOLERANCE_MS;
    if (!startsSegment && endMs - current.segmentMs > longestSegmentMs(segmentMs)) {
      throw new Error(`no key frame for ${Math.round(endMs - current.segmentMs)} ms`);
    }
    video.push(fragment);
    if (startsSegment) {
      this.cuts.push({
        kind: 'segment',
        atMs: startMs,
        offsetMs: this.nextOffset(current, startMs),
      });
      current.segmentMs = startMs;
      current.partMs = startMs;
    }
    this.cutParts(startMs, endMs);
  }

  // The epoch starts at the first key frame after the end of the previous epoch.
  private tryStartEpoch(fragment: Fragment, startMs: number, endMs: number): void {
    const { timeline, notBeforeMs } = this.options;
    if (fragment.isSync && startMs + timeline.offsetFor(startMs) >= notBeforeMs) {
      const offsetMs = timeline.advance(startMs);
      this.current = { segmentMs: startMs, partMs: startMs, offsetMs };
      this.cuts.push({ kind: 'begin', atMs: startMs, offsetMs });
      this.cutParts(startMs, endMs);
      return;
    }
    if (endMs - (this.firstFragmentMs ?? startMs) > FIRST_KEY_FRAME_MS_MAX) {
      throw new Error('no key frame to start the epoch with');
    }
    for (const queue of this.queues) queue.takeUntil(endMs);
  }

  // A part ends at its target duration, or before it gets too long. The next fragment is assumed to
  // be as long as this one, so that a full part or segment is known without waiting for it.
  private cutParts(startMs: number, endMs: number): void {
    const { current } = this;
    const { partMs, segmentMs } = this.options;
    if (!current || partMs === null) return;
    const cut = (atMs: number) => {
      this.cuts.push({ kind: 'part', atMs, offsetMs: current.offsetMs });
      current.partMs = atMs;
    };
    const longestMs = longestPartMs(partMs) + ROUNDING_MS;
    if (startMs > current.partMs && endMs - current.partMs > longestMs) cut(startMs);
    const durationMs = endMs - current.partMs;
    const isLong =
      durationMs >= partMs - ALIGNMENT_TOLERANCE_MS || durationMs + endMs - startMs > longestMs;
    if (isLong || endMs - current.segmentMs >= segmentMs - this.halfFrameMs) cut(endMs);
  }

  private nextOffset(current: { offsetMs: number }, startMs: number): number {
    const offsetMs = this.options.timeline.advance(startMs);
    if (Math.abs(offsetMs - current.offsetMs) > OFFSET_STEP_MS_MAX)
      throw new Error("the source's clock jumped");
    current.offsetMs = offsetMs;
    return offsetMs;
  }

  private applyCutsWhile(isReady: (cut: Cut) => boolean): void {
    for (let cut = this.cuts[0]; cut && isReady(cut); cut = this.cuts[0]) {
      this.cuts.shift();
      this.applyCut(cut);
    }
  }

  // A segment waits for the start of the next one in every track; a part is published early.
  private isReady({ kind, atMs }: Cut): boolean {
    return this.queues.every((queue) =>
      kind === 'part' ? queue.reaches(atMs) : queue.isPast(atMs),
    );
  }

  private applyCut({ kind, atMs, offsetMs }: Cut): void {
    const { epoch, firstSeq } = this.options;
    const { openSegment } = this;
    if (kind === 'begin' || !openSegment) {
      for (const queue of this.queues) queue.takeUntil(atMs);
      this.openSegment = new OpenSegment(firstSeq, epoch, offsetMs);
      this.events.push({ kind: 'begin', startMs: atMs + offsetMs });
      return;
    }
    this.events.push(...this.takePart(openSegment, atMs));
    if (kind === 'part') return;
    this.checkAligned(atMs);
    if (!openSegment.hasAll(this.queues)) throw new Error('a track has no data in a segment');
    this.openSegment = new OpenSegment(openSegment.seq + 1, epoch, offsetMs);
    const closed = openSegment.close(this.queues, this.video, offsetMs);
    this.events.push({ kind: 'segment', ...closed });
  }

  private takePart(segment: OpenSegment, atMs: number): SegmenterEvent[] {
    const taken = segment.take(this.queues, atMs, (track) => this.nextSequenceNumber(track));
    const { id } = this.video.track;
    if (this.options.partMs === null || !taken.has(id)) return [];
    return [{ kind: 'part', seq: segment.seq, ...segment.makePart(taken, id) }];
  }

  private nextSequenceNumber(track: TrackId): number {
    const number = (this.sequenceNumbers.get(track) ?? 0) + 1;
    this.sequenceNumbers.set(track, number);
    return number;
  }

  private checkAligned(atMs: number): void {
    for (const queue of this.queues) {
      const { track, first } = queue;
      if (track.kind !== 'video' || !first) continue;
      const differenceMs = queue.msOf(first.startTicks) - atMs;
      if (!first.isSync || Math.abs(differenceMs) > ALIGNMENT_TOLERANCE_MS) {
        this.misalignedAtMs = atMs;
        throw new Error(`${track.id} has no key frame where ${this.video.track.id} has one`);
      }
    }
  }

  private checkSilence(): void {
    const ends = this.queues.map(({ endMs }) => endMs ?? this.firstFragmentMs ?? 0);
    const newestMs = Math.max(...ends);
    const silentIndex = ends.findIndex((endMs) => newestMs - endMs > TRACK_SILENCE_MS_MAX);
    const queue = this.queues[silentIndex];
    if (queue)
      throw new Error(`no data of ${queue.track.id} for ${TRACK_SILENCE_MS_MAX / 1_000} s`);
  }
}
