import { nativePicture } from '../../sdk/pictures.ts';
import { EndedPlaylist } from './ended-playlist.ts';
import { RetryTimer } from './retry-timer.ts';
import type { Source, SourceListener } from './source.ts';

/** Plays HLS by the browser itself, as on older iPhones. */
export function nativeSource(
  video: HTMLVideoElement,
  url: string,
  listener: SourceListener,
): Source {
  const controller = new AbortController();
  let hasLoaded = false;
  /** Playback position after the next load, seconds. */
  let resumeAtS = 0;
  const retryTimer = new RetryTimer();
  const load = () => {
    if (hasLoaded || listener.retriesMissing()) video.load();
  };
  const onError = () => {
    // Loading resets `currentTime`, and may fail before it is restored.
    resumeAtS = video.currentTime || resumeAtS;
    // The browser does not give the reason. A stream that has loaded exists, so the network failed.
    if (hasLoaded) listener.onInterrupted();
    else listener.onMissing();
    retryTimer.schedule(load);
  };
  const endedPlaylist = new EndedPlaylist(listener.mustBeLive);
  const onMetadata = () => {
    if (endedPlaylist.refuse(Number.isFinite(video.duration), () => video.load())) {
      video.pause();
      listener.onMissing();
      return;
    }
    hasLoaded = true;
    retryTimer.reset();
    if (resumeAtS > 0) video.currentTime = resumeAtS;
    resumeAtS = 0;
    listener.onReady();
  };
  video.addEventListener('error', onError, controller);
  video.addEventListener('loadedmetadata', onMetadata, controller);
  video.src = url;
  return {
    picture: nativePicture(video),
    stop() {
      retryTimer.cancel();
      endedPlaylist.stop();
      controller.abort();
      video.removeAttribute('src');
      video.load();
    },
  };
}
