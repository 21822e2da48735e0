import { Screen } from './screen.ts';
import type { Picture } from './types.ts';

/** What is needed of hls.js. */
export interface HlsPlayer {
  readonly playingDate: Date | null;
}

/** What is needed of shaka-player. */
export interface ShakaPlayer {
  isFullyLoaded(): boolean;
  getPlayheadTimeAsDate(): Date | null;
}

/** What is needed of a `<video>` that plays HLS by itself: Safari. */
export interface NativeVideo {
  readonly currentTime: number;
  /** Where it is not, there is no picture to follow. */
  getStartDate?(): Date;
}

/**
 * The picture of a player of one's own.
 * @param wallClockMs the wall clock of the frame on screen, Unix ms; null while there is none, which
 *   is also what becomes of NaN, and of what it throws
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
    hold: (env, past, listener, shown) => new Screen(env, past, listener, shown),
  };
}

/** The picture of hls.js 1.x: `follow(hlsPicture(hls))`. */
export function hlsPicture(hls: HlsPlayer): Picture {
  return pictureOf(() => wallClockOf(hls.playingDate));
}

/** The picture of shaka-player 4 or newer. */
export function shakaPicture(player: ShakaPlayer): Picture {
  // Before it has loaded, shaka takes the machine's own clock for it.
  return pictureOf(() =>
    player.isFullyLoaded() ? wallClockOf(player.getPlayheadTimeAsDate()) : null,
  );
}

/** The picture of a `<video>` whose browser plays HLS by itself. */
export function nativePicture(video: NativeVideo): Picture {
  return pictureOf(() => {
    const startMs = wallClockOf(video.getStartDate?.());
    return startMs === null ? null : startMs + video.currentTime * 1_000;
  });
}

// Without a wall clock in the stream, players say nothing, no date, or one that is 1970.
const LEAST_MS = 1e12;

function wallClockOf(date: Date | null | undefined): number | null {
  const ms = date?.getTime() ?? NaN;
  return ms >= LEAST_MS ? ms : null;
}
