import Hls, { type ErrorData } from 'hls.js';
import { nativePicture } from '../../sdk/pictures.ts';
import type { RecordedVideo, RecordingEvents } from './recording.ts';

/** After a service that does not answer. */
const AGAIN_MS = 2_000;
const NOT_THERE = 404;

/** Brings a recording into an element: by hls.js, or by a browser that plays HLS by itself. */
export function openHls(
  video: HTMLVideoElement,
  url: string,
  events: RecordingEvents,
): RecordedVideo {
  if (!Hls.isSupported()) return openNative(video, url, events);
  // Right after the show its playlist may have no end yet: a live one would begin with the newest.
  const hls = new Hls({ enableWorker: true, backBufferLength: 30, startPosition: 0 });
  let again: ReturnType<typeof setTimeout> | undefined;
  hls.on(Hls.Events.ERROR, (_, error) => {
    if (!error.fatal) return;
    if (error.type === Hls.ErrorTypes.MEDIA_ERROR) return hls.recoverMediaError();
    if (isGone(error)) return events.onAbsent();
    clearTimeout(again);
    again = setTimeout(
      () => (hls.levels.length > 0 ? hls.startLoad() : hls.loadSource(url)),
      AGAIN_MS,
    );
  });
  hls.attachMedia(video);
  hls.loadSource(url);
  return {
    // A hole in what was filmed is nowhere to go to.
    segments: () => (hls.latestLevelDetails?.fragments ?? []).filter(({ gap }) => !gap),
    stop: () => {
      clearTimeout(again);
      hls.destroy();
    },
  };
}

function isGone({ details, response }: ErrorData): boolean {
  return response?.code === NOT_THERE && details.startsWith('manifest');
}

function openNative(
  video: HTMLVideoElement,
  url: string,
  { onAbsent }: RecordingEvents,
): RecordedVideo {
  const ending = new AbortController();
  video.addEventListener('error', onAbsent, ending);
  video.src = url;
  const filmedNow = nativePicture(video);
  return {
    // It says of one frame when that was filmed, and the others follow from it.
    segments: () => {
      const nowMs = filmedNow.wallClockMs();
      if (nowMs === null) return [];
      const programDateTime = nowMs - video.currentTime * 1_000;
      return [{ start: 0, duration: video.duration, programDateTime }];
    },
    stop: () => {
      ending.abort();
      video.removeAttribute('src');
    },
  };
}
