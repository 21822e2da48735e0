import type { Epoch, Part, PieceBytes, Segment } from '../segment.ts';
import type { SourceEnd } from '../source.ts';
import type { EncoderProgress, SourceInfo } from './encoder.ts';

/** Where a packager's segments go. */
export interface Output {
  /** What the next epoch begins with: its number, that of its first segment, and no earlier time. */
  next(): { readonly epoch: number; readonly seq: number; readonly notBeforeMs: number };
  epoch(epoch: Epoch): void;
  part(seq: number, part: Part, bytes: PieceBytes): void;
  segment(segment: Segment, bytes: PieceBytes): void;
  /** Nothing can be made of the source. */
  failed(end: SourceEnd): void;
}

/** How a source is doing. */
export interface PackagerState {
  readonly info: SourceInfo | null;
  readonly progress: EncoderProgress | null;
  /** Bytes that came in, in all. */
  readonly bytes: number;
  readonly restarts: number;
  /** Of all its encoders, s. */
  readonly cpuSeconds: number;
}
