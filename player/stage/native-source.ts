import { nativePicture } from '../../sdk/pictures.ts';
import { Again } from './again.ts';
import type { Source, SourceListener } from './source.ts';

/** The browser plays HLS by itself, as on older iPhones. */
export function nativeSource(
  video: HTMLVideoElement,
  url: string,
  listener: SourceListener,
): Source {
  const ending = new AbortController();
  const { signal } = ending;
  let hasBegun = false;
  /** Where it goes on, s. */
  let resumeAt = 0;
  const again = new Again();
  const load = () => {
    if (hasBegun || listener.mayCome()) video.load();
  };
  const onError = () => {
    // Loading it again takes it back to its beginning, and it may fail before it is back.
    resumeAt = video.currentTime || resumeAt;
    // The browser does not say why; but what was there is there, and the way to it is not.
    if (hasBegun) listener.onBroken();
    else listener.onAbsent();
    again.later(load);
  };
  const onMetadata = () => {
    hasBegun = true;
    again.worked();
    if (resumeAt > 0) video.currentTime = resumeAt;
    resumeAt = 0;
    listener.onReady();
  };
  video.addEventListener('error', onError, { signal });
  video.addEventListener('loadedmetadata', onMetadata, { signal });
  video.src = url;
  return {
    picture: nativePicture(video),
    stop() {
      again.stop();
      ending.abort();
      video.removeAttribute('src');
      video.load();
    },
  };
}
