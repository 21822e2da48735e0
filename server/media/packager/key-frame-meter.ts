import type { SourceUnit } from '../container/container.ts';

/** Measures how far the key frames of a source are apart. */
export class KeyFrameMeter {
  private keyFrameMs: number | null = null;
  private newestMs: number | null = null;
  private lastIntervalMs: number | null = null;

  observe({ isEntryPoint, sourceMs }: Pick<SourceUnit, 'isEntryPoint' | 'sourceMs'>): void {
    if (sourceMs === null) return;
    // The clock of the source was set back.
    if (this.keyFrameMs !== null && sourceMs < this.keyFrameMs) this.keyFrameMs = null;
    this.newestMs = sourceMs;
    if (!isEntryPoint) return;
    if (this.keyFrameMs !== null) this.lastIntervalMs = sourceMs - this.keyFrameMs;
    this.keyFrameMs = sourceMs;
  }

  /** The last interval, or the time since the last key frame if that is longer, ms; null: unknown. */
  intervalMs(): number | null {
    if (this.keyFrameMs === null || this.newestMs === null) return this.lastIntervalMs;
    const sinceMs = this.newestMs - this.keyFrameMs;
    if (this.lastIntervalMs === null) return sinceMs > 0 ? sinceMs : null;
    return Math.max(this.lastIntervalMs, sinceMs);
  }
}
