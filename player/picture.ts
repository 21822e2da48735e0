import Hls from 'hls.js';

/** What the page wants to know of the picture. */
export interface Picture {
  /** Wall clock of the frame on screen by the stream's own clock, Unix ms; null before the first. */
  wallClockMs(): number | null;
  /** The rendition on screen, such as `640 × 360`. */
  rendition(): string | null;
}

/**
 * What keeps it from playing: there is none (yet), it was interrupted, the browser wants to be asked
 * by the viewer first, or this was its end.
 */
export type Trouble = 'absent' | 'interrupted' | 'press-play' | 'over';

export interface PictureEvents {
  onPlaying(): void;
  /** It does not play now. */
  onTrouble(trouble: Trouble): void;
  /** Whether one that is absent or broken is to be tried again. */
  mayCome(): boolean;
}

const AGAIN_MS = 2_000;
// A player that is short of data for less than this goes on by itself, and nobody needs a word.
const PATIENCE_MS = 1_500;

/** Plays a stream: with hls.js where Media Source Extensions are, else by the browser itself. */
export function playPicture(video: HTMLVideoElement, url: string, events: PictureEvents): Picture {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  video.addEventListener('playing', () => {
    clearTimeout(waiting);
    events.onPlaying();
  });
  video.addEventListener('waiting', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => events.onTrouble('interrupted'), PATIENCE_MS);
  });
  video.addEventListener('ended', () => {
    clearTimeout(waiting);
    events.onTrouble('over');
  });
  return Hls.isSupported() ? withHls(video, url, events) : withBrowser(video, url, events);
}

function withHls(video: HTMLVideoElement, url: string, events: PictureEvents): Picture {
  const hls = new Hls({ backBufferLength: 30 });
  hls.on(Hls.Events.ERROR, (_, { fatal, type, response }) => {
    if (!fatal) return;
    events.onTrouble(response?.code === 404 ? 'absent' : 'interrupted');
    if (type === Hls.ErrorTypes.MEDIA_ERROR) hls.recoverMediaError();
    else if (events.mayCome()) setTimeout(() => hls.loadSource(url), AGAIN_MS);
  });
  hls.on(Hls.Events.MANIFEST_PARSED, () => play(video, events));
  hls.attachMedia(video);
  hls.loadSource(url);
  return {
    wallClockMs: () => hls.playingDate?.getTime() ?? null,
    rendition: () => sizeOf(video),
  };
}

/** Safari's element says when its timeline began. */
interface DatedVideo extends HTMLVideoElement {
  getStartDate?(): Date;
}

function withBrowser(video: DatedVideo, url: string, events: PictureEvents): Picture {
  video.addEventListener('error', () => {
    events.onTrouble('absent');
    if (events.mayCome()) setTimeout(() => video.load(), AGAIN_MS);
  });
  video.addEventListener('loadedmetadata', () => play(video, events));
  video.src = url;
  return {
    wallClockMs: () => {
      const startMs = video.getStartDate?.().getTime();
      return startMs === undefined || Number.isNaN(startMs)
        ? null
        : startMs + video.currentTime * 1_000;
    },
    rendition: () => sizeOf(video),
  };
}

function play(video: HTMLVideoElement, { onTrouble }: PictureEvents): void {
  video.play().catch((error: Error) => {
    // One that is replaced by a newer load is no trouble.
    if (error.name === 'NotAllowedError') onTrouble('press-play');
  });
}

function sizeOf({ videoWidth, videoHeight }: HTMLVideoElement): string | null {
  return videoWidth === 0 ? null : `${videoWidth} × ${videoHeight}`;
}
