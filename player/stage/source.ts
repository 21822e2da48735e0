import type { Picture } from '../../sdk/types.ts';

/** Plays a stream in a `<video>`: hls.js, or the browser's own player. */
export interface Source {
  /** The wall clock of the video's frames. */
  readonly picture: Picture;
  stop(): void;
}

export interface SourceListener {
  /** The stream has loaded and can be played. */
  onReady(): void;
  /** There is no stream at the URL. */
  onMissing(): void;
  /** Loading or decoding failed; the source retries. */
  onInterrupted(): void;
  /** Whether to retry a missing stream; an interrupted one is always retried. */
  retriesMissing(): boolean;
  /** Whether the video of the show cannot have ended. */
  mustBeLive(): boolean;
}
