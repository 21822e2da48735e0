import type { Epoch, Part, Segment, TrackBytes } from '../segment.ts';
import type { SourceEnd } from '../source.ts';
import type { EncoderProgress, SourceInfo } from './encoder.ts';

/** Receives what a packager produces. */
export interface SegmentSink {
  /** Number, first sequence number and earliest start (Unix ms) of the next epoch. */
  nextEpoch(): { readonly epoch: number; readonly seq: number; readonly notBeforeMs: number };
  addEpoch(epoch: Epoch): void;
  addPart(seq: number, part: Part, bytes: TrackBytes): void;
  addSegment(segment: Segment, bytes: TrackBytes): void;
  /** The source cannot be encoded. */
  onSourceFailed(end: SourceEnd): void;
}

/** Health and totals of a source. */
export interface PackagerState {
  readonly info: SourceInfo | null;
  readonly progress: EncoderProgress | null;
  /** Bytes received in total. */
  readonly bytes: number;
  readonly restarts: number;
  /** CPU time of all its encoders, s. */
  readonly cpuSeconds: number;
}
