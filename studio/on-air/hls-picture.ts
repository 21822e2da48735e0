import Hls from 'hls.js';
import { whenQuiet } from '../api/quiet.ts';

/** After a stream that is not there yet, or broke off. */
const AGAIN_MS = 2_000;

/**
 * Plays a stream in an element, again and again when there is none.
 * @param lookMs how often is looked what is shown
 * @param onShown told when the picture that is shown was taken, Unix ms; null: not known
 * @returns what ends it
 */
export function playHls(
  video: HTMLVideoElement,
  url: string,
  lookMs: number,
  onShown: (takenMs: number | null) => void,
): () => void {
  if (!Hls.isSupported()) {
    video.src = url;
    return () => video.removeAttribute('src');
  }
  const hls = new Hls({ backBufferLength: 10, capLevelToPlayerSize: true, enableWorker: true });
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
  const endQuiet = whenQuiet((isQuiet) => {
    clearTimeout(again);
    if (isQuiet) hls.stopLoad();
    else if (hls.levels.length > 0) hls.startLoad();
    else hls.loadSource(url);
  });
  hls.attachMedia(video);
  hls.loadSource(url);
  const look = setInterval(() => {
    onShown(video.paused ? null : (hls.playingDate?.getTime() ?? null));
  }, lookMs);
  return () => {
    clearInterval(look);
    endQuiet();
    clearTimeout(again);
    hls.destroy();
  };
}
