/** Times of one frame on screen. */
export interface FrameSample {
  /** Wall clock time of the frame by the player, Unix ms. */
  readonly playerMs: number;
  /** Time code in the frame, Unix ms. */
  readonly pictureMs: number;
  /** System time at which the frame was shown, Unix ms. */
  readonly nowMs: number;
  readonly width: number;
}

export type PlayerKind = 'hls' | 'shaka';

/** Functions of the page `pages/player.ts`, in its global `api`. */
export interface PlayerApi {
  /** Starts playback. @param atS start in the player's time, s; null for its default */
  play(kind: PlayerKind, url: string, atS: number | null): void;
  samples(): readonly FrameSample[];
  forget(): void;
  errors(): readonly string[];
  /**
   * Playback position. `width` is that of the rendition on screen, 0 before the first frame;
   * `wallClockMs` is the player's, Unix ms.
   */
  position(): {
    readonly width: number;
    readonly currentTime: number;
    readonly wallClockMs: number | null;
  };
  stop(): Promise<void>;
}
