import Hls, { type ErrorData } from 'hls.js';
import { RetryTimer } from './retry-timer.ts';
import type { SourceListener } from './source.ts';
import { HAVE_FUTURE_DATA } from './stage-video.ts';

/** The part of hls.js that recovery needs. */
export type RecoverableHls = Pick<
  Hls,
  'on' | 'media' | 'levels' | 'loadSource' | 'startLoad' | 'recoverMediaError'
>;

// When decoding fails again within this time after a recovery, another immediate one would not help.
const RECOVERED_AFTER_MS = 5_000;

/** Restarts hls.js after fatal errors. @returns a function that stops it */
export function recoverFromErrors(
  hls: RecoverableHls,
  url: string,
  listener: Pick<SourceListener, 'onMissing' | 'onInterrupted' | 'retriesMissing'>,
): () => void {
  const retryTimer = new RetryTimer();
  let recoveredAtMs = Number.NEGATIVE_INFINITY;
  const hasRecovered = () => performance.now() - recoveredAtMs >= RECOVERED_AFTER_MS;
  const recoverMedia = () => {
    recoveredAtMs = performance.now();
    hls.recoverMediaError();
  };
  hls.on(Hls.Events.ERROR, (_, error) => {
    if (!error.fatal) return;
    const isMissing = error.response?.code === 404;
    const isMediaError = error.type === Hls.ErrorTypes.MEDIA_ERROR;
    if (isMissing) listener.onMissing();
    // Video with buffered data continues; it stalls by itself when the buffer is empty.
    else if (isMediaError || !isPlaying(hls.media)) listener.onInterrupted();
    if (!isMediaError) {
      retryTimer.schedule(() => {
        if (!isMissing || listener.retriesMissing()) restartLoading(hls, url, error);
      });
    } else if (hasRecovered()) recoverMedia();
    else retryTimer.schedule(recoverMedia);
  });
  hls.on(Hls.Events.FRAG_BUFFERED, () => {
    // Media that cannot be decoded can be buffered all the same.
    if (hasRecovered()) retryTimer.reset();
  });
  return () => retryTimer.cancel();
}

function isPlaying(video: HTMLMediaElement | null): boolean {
  return video !== null && !video.paused && video.readyState >= HAVE_FUTURE_DATA;
}

/** Loads the next segment, or the playlist when that had failed. */
function restartLoading(hls: RecoverableHls, url: string, { details }: ErrorData): void {
  const needsPlaylist = hls.levels.length === 0 || details.startsWith('manifest');
  if (needsPlaylist) hls.loadSource(url);
  else hls.startLoad();
}
