/** Caches serve the playlists of the end for less than this time after a show was reopened. */
const RETRIES_MAX = 6;
const RETRY_MS = 2_000;

/**
 * Decides on the first playlist of a show: one that has ended although the video must be live is from
 * before a reopening, and is loaded again. After some retries it is played all the same.
 */
export class EndedPlaylist {
  #isDecided = false;
  #retries = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param mustBeLive whether the video cannot have ended */
  constructor(private readonly mustBeLive: () => boolean) {}

  /**
   * @param hasEnded whether the playlist has ended
   * @param reload loads it again; called later
   * @returns whether the playlist must not be played
   */
  refuse(hasEnded: boolean, reload: () => void): boolean {
    const isStale =
      !this.#isDecided && hasEnded && this.mustBeLive() && this.#retries < RETRIES_MAX;
    this.#isDecided = !isStale;
    clearTimeout(this.#timer);
    if (!isStale) return false;
    this.#retries++;
    this.#timer = setTimeout(reload, RETRY_MS);
    return true;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
