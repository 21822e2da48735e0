import type { Picture } from './types.ts';
import { VideoSyncBuffer } from './video-sync-buffer.ts';

/** The part of hls.js that is used. */
export interface HlsPlayer {
  readonly playingDate: Date | null;
}

/** The part of shaka-player that is used. */
export interface ShakaPlayer {
  isFullyLoaded(): boolean;
  getPlayheadTimeAsDate(): Date | null;
}

/** The part of a `<video>` element that plays HLS natively (Safari) that is used. */
export interface NativeVideo {
  readonly currentTime: number;
  /** Absent in browsers that cannot play HLS; there is no picture to follow then. */
  getStartDate?(): Date;
}

/**
 * A picture for any player.
 * @param wallClockMs returns the wall-clock time of the frame on screen, Unix ms; null while there is
 *   none. NaN and exceptions count as null
 */
export function pictureOf(wallClockMs: () => number | null): Picture {
  return {
    wallClockMs: () => {
      try {
        const ms = wallClockMs();
        return Number.isFinite(ms) ? ms : null;
      } catch {
        return null;
      }
    },
    createBuffer: (env, source, listener, shown) =>
      new VideoSyncBuffer(env, source, listener, shown),
  };
}

/** A picture for hls.js 1.x: `follow(hlsPicture(hls))`. */
export function hlsPicture(hls: HlsPlayer): Picture {
  return pictureOf(() => wallClockOf(hls.playingDate));
}

/** A picture for shaka-player 4 or newer. */
export function shakaPicture(player: ShakaPlayer): Picture {
  // Until it has loaded, shaka reports the machine's own clock.
  return pictureOf(() =>
    player.isFullyLoaded() ? wallClockOf(player.getPlayheadTimeAsDate()) : null,
  );
}

/** A picture for a `<video>` element whose browser plays HLS natively. */
export function nativePicture(video: NativeVideo): Picture {
  return pictureOf(() => {
    const startMs = wallClockOf(video.getStartDate?.());
    return startMs === null ? null : startMs + video.currentTime * 1_000;
  });
}

// When the stream has no wall clock, players report nothing, an invalid date, or one of 1970.
const MIN_WALL_CLOCK_MS = 1e12;

function wallClockOf(date: Date | null | undefined): number | null {
  const ms = date?.getTime() ?? NaN;
  return ms >= MIN_WALL_CLOCK_MS ? ms : null;
}
