import Hls from 'hls.js';
import { createHls } from '../../player/stage/create-hls.ts';
import { onRequestsPaused } from '../api/request-pause.ts';

/** Delay before a failed or missing stream is loaded again. */
const RETRY_MS = 2_000;

/**
 * Plays a live HLS stream and retries when it is missing or fails.
 * @param pollMs interval of `onShown`
 * @param onShown called with the capture time of the frame on screen, Unix ms; null: unknown
 * @returns stops playback
 */
export function playLiveHls(
  video: HTMLVideoElement,
  url: string,
  pollMs: number,
  onShown: (capturedMs: number | null) => void,
): () => void {
  if (!Hls.isSupported()) {
    video.src = url;
    return () => video.removeAttribute('src');
  }
  const config = { backBufferLength: 10, capLevelToPlayerSize: true, enableWorker: true };
  const hls = createHls(url, config);
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  hls.on(Hls.Events.ERROR, (_, { fatal, type }) => {
    if (!fatal) return;
    if (type === Hls.ErrorTypes.MEDIA_ERROR) {
      hls.recoverMediaError();
      return;
    }
    clearTimeout(retryTimer);
    retryTimer = setTimeout(() => hls.loadSource(url), RETRY_MS);
  });
  const unsubscribe = onRequestsPaused((isPaused) => {
    clearTimeout(retryTimer);
    if (isPaused) hls.stopLoad();
    else if (hls.levels.length > 0) hls.startLoad();
    else hls.loadSource(url);
  });
  hls.attachMedia(video);
  hls.loadSource(url);
  const pollTimer = setInterval(() => {
    onShown(video.paused ? null : (hls.playingDate?.getTime() ?? null));
  }, pollMs);
  return () => {
    clearInterval(pollTimer);
    unsubscribe();
    clearTimeout(retryTimer);
    hls.destroy();
  };
}
