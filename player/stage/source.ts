import type { Picture } from '../../sdk/types.ts';

/** What brings a stream into a `<video>`: hls.js, or the browser. */
export interface Source {
  /** The wall clock of its frames. */
  readonly picture: Picture;
  stop(): void;
}

/** Who hears of it. */
export interface SourceListener {
  /** There is enough to begin. */
  onReady(): void;
  onAbsent(): void;
  onBroken(): void;
  /** Whether one that is absent is to be tried again; one that is broken always is. */
  mayCome(): boolean;
}
