import Hls from 'hls.js';

/** What the page wants to know of the picture. */
export interface Picture {
  /** Wall clock of the frame on screen by the stream's own clock, Unix ms; null before the first. */
  wallClockMs(): number | null;
  /** The rendition on screen, such as `640 × 360`. */
  rendition(): string | null;
}

export interface PictureEvents {
  /** It plays. */
  onPlaying(): void;
  /** It cannot play now; it is tried again. @param reason a sentence for the viewer */
  onTrouble(reason: string): void;
}

const AGAIN_MS = 2_000;

/** Plays a stream: with hls.js where Media Source Extensions are, else by the browser itself. */
export function playPicture(video: HTMLVideoElement, url: string, events: PictureEvents): Picture {
  video.addEventListener('playing', () => events.onPlaying());
  return Hls.isSupported() ? withHls(video, url, events) : withBrowser(video, url, events);
}

function withHls(video: HTMLVideoElement, url: string, { onTrouble }: PictureEvents): Picture {
  const hls = new Hls({ backBufferLength: 30 });
  hls.on(Hls.Events.ERROR, (_, { fatal, type }) => {
    if (!fatal) return;
    onTrouble('Waiting for the picture …');
    if (type === Hls.ErrorTypes.MEDIA_ERROR) hls.recoverMediaError();
    else setTimeout(() => hls.loadSource(url), AGAIN_MS);
  });
  hls.on(Hls.Events.MANIFEST_PARSED, () => play(video, onTrouble));
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

function withBrowser(video: DatedVideo, url: string, { onTrouble }: PictureEvents): Picture {
  video.addEventListener('error', () => {
    onTrouble('Waiting for the picture …');
    setTimeout(() => video.load(), AGAIN_MS);
  });
  video.src = url;
  play(video, onTrouble);
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

function play(video: HTMLVideoElement, onTrouble: (reason: string) => void): void {
  video.play().catch((error: Error) => {
    // One that is replaced by a newer load is no trouble.
    if (error.name === 'NotAllowedError') onTrouble('Press play to watch.');
  });
}

function sizeOf({ videoWidth, videoHeight }: HTMLVideoElement): string | null {
  return videoWidth === 0 ? null : `${videoWidth} × ${videoHeight}`;
}
