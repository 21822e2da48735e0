import Hls from 'hls.js';

/** After a stream that is not there yet, or broke off. */
const AGAIN_MS = 2_000;

/**
 * Plays a stream in an element, again and again when there is none.
 * @param onBehind told how far the picture is behind the camera, ms; null: not known
 * @returns what ends it
 */
export function playHls(
  video: HTMLVideoElement,
  url: string,
  onBehind: (ms: number | null) => void,
  lookMs: number,
): () => void {
  if (!Hls.isSupported()) {
    video.src = url;
    return () => video.removeAttribute('src');
  }
  const hls = new Hls({ backBufferLength: 10, enableWorker: true });
  let again: ReturnType<typeof setTimeout> | undefined;
  hls.on(Hls.Events.ERROR, (_, { fatal, type }) => {
    if (!fatal) return;
    if (type === Hls.ErrorTypes.MEDIA_ERROR) {
      hls.recoverMediaError();
      return;
    }
    clearTimeout(again);
    again = setTimeout(() => hls.loadSource(url), AGAIN_MS);
  });
  hls.attachMedia(video);
  hls.loadSource(url);
  const look = setInterval(() => {
    const shownMs = hls.playingDate?.getTime();
    onBehind(shownMs === undefined || video.paused ? null : Math.max(0, Date.now() - shownMs));
  }, lookMs);
  return () => {
    clearInterval(look);
    clearTimeout(again);
    hls.destroy();
  };
}
