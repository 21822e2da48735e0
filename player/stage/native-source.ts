import { nativePicture } from '../../sdk/pictures.ts';
import { AGAIN_MS, type Source, type SourceListener } from './source.ts';

/** The browser plays HLS by itself, as on older iPhones. */
export function nativeSource(
  video: HTMLVideoElement,
  url: string,
  listener: SourceListener,
): Source {
  const ending = new AbortController();
  const { signal } = ending;
  const again = () => {
    if (!signal.aborted && listener.mayCome()) video.load();
  };
  const onError = () => {
    listener.onAbsent();
    setTimeout(again, AGAIN_MS);
  };
  video.addEventListener('error', onError, { signal });
  video.addEventListener('loadedmetadata', listener.onReady, { signal });
  video.src = url;
  return {
    picture: nativePicture(video),
    stop() {
      ending.abort();
      video.removeAttribute('src');
      video.load();
    },
  };
}
