/** What one frame on screen said. */
export interface FrameSample {
  /** By the player, from the stream's own clock, Unix ms. */
  readonly playerMs: number;
  /** Burnt into the picture. */
  readonly pictureMs: number;
  /** By the machine, when the frame was shown. */
  readonly nowMs: number;
  readonly width: number;
}

export type PlayerKind = 'hls' | 'shaka';

/** What the page of `pages/player.ts` does for a test, as its global `api`. */
export interface PlayerApi {
  /** @param atS where to begin, in the player's own time; null: where it wants to */
  play(kind: PlayerKind, url: string, atS: number | null): void;
  samples(): readonly FrameSample[];
  forget(): void;
  errors(): readonly string[];
  /**
   * Where it is now; `width` of the rendition on screen, 0 before there is one; `wallClockMs` by the
   * player, Unix ms.
   */
  position(): {
    readonly width: number;
    readonly currentTime: number;
    readonly wallClockMs: number | null;
  };
  stop(): Promise<void>;
}
