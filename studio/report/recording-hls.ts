import Hls, { type ErrorData } from 'hls.js';
import { createHls } from '../../player/stage/create-hls.ts';
import { nativePicture } from '../../sdk/pictures.ts';
import type { OpenRecording, RecordingEvents } from './recording.ts';

/** Delay before a retry while the service is unavailable. */
const RETRY_MS = 2_000;
const NOT_FOUND = 404;

/** Opens a recording in a video element, with hls.js or native HLS. */
export function openHls(
  video: HTMLVideoElement,
  url: string,
  events: RecordingEvents,
): OpenRecording {
  if (!Hls.isSupported()) return openNative(video, url, events);
  // Just after the show, the playlist may still look live; without a start position, playback would
  // begin at its end.
  const hls = createHls(url, { enableWorker: true, backBufferLength: 30, startPosition: 0 });
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  hls.on(Hls.Events.ERROR, (_, error) => {
    if (!error.fatal) return;
    if (error.type === Hls.ErrorTypes.MEDIA_ERROR) return hls.recoverMediaError();
    if (isNotFound(error)) return events.onAbsent();
    clearTimeout(retryTimer);
    retryTimer = setTimeout(
      () => (hls.levels.length > 0 ? hls.startLoad() : hls.loadSource(url)),
      RETRY_MS,
    );
  });
  hls.attachMedia(video);
  hls.loadSource(url);
  return {
    // Gaps have no video to seek to.
    segments: () => (hls.latestLevelDetails?.fragments ?? []).filter(({ gap }) => !gap),
    stop: () => {
      clearTimeout(retryTimer);
      hls.destroy();
    },
  };
}

function isNotFound({ details, response }: ErrorData): boolean {
  return response?.code === NOT_FOUND && details.startsWith('manifest');
}

function openNative(
  video: HTMLVideoElement,
  url: string,
  { onAbsent }: RecordingEvents,
): OpenRecording {
  const ending = new AbortController();
  video.addEventListener('error', onAbsent, ending);
  video.src = url;
  const picture = nativePicture(video);
  return {
    // Native HLS exposes the time of the current frame only; extrapolate from it.
    segments: () => {
      const nowMs = picture.wallClockMs();
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
