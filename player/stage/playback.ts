import { pictureOf } from '../../sdk/pictures.ts';
import type { Picture } from '../../sdk/types.ts';
import { nativeSource } from './native-source.ts';
import type { Source, SourceListener } from './source.ts';
import type { StageVideo } from './stage-video.ts';

/**
 * The state of the video.
 *
 * - `none`: no stream is loaded.
 * - `loading`: playback has not started.
 * - `playing`: the video plays, or the viewer has paused it.
 * - `stalled`: playback was interrupted; it is retried.
 * - `lost`: stalled for 10 s; it is retried all the same.
 * - `press-play`: the browser plays it only after a press by the viewer.
 * - `missing`: there is no stream (yet).
 * - `over`: the video has ended.
 * - `not-loaded`: the player's script could not be loaded.
 */
export type PlaybackState =
  | 'none'
  | 'loading'
  | 'playing'
  | 'stalled'
  | 'lost'
  | 'press-play'
  | 'missing'
  | 'over'
  | 'not-loaded';

export interface PlaybackListener {
  /** @param picture the wall clock of the frames, the same object every time */
  onState(state: PlaybackState, picture: Picture): void;
  /** The browser plays the video without sound until the viewer turns the sound on. */
  onMuted(): void;
  /** Whether to retry a missing stream; an interrupted one is always retried. */
  retriesMissing(): boolean;
  /** Whether the video of the show cannot have ended. */
  mustBeLive(): boolean;
}

// A shorter lack of data is not reported.
const STALLED_AFTER_MS = 1_500;
// After this time the page stops waiting for the video and shows events as they come.
const LOST_AFTER_MS = 10_000;
/** In these states a further interruption changes nothing. */
const INTERRUPTED: ReadonlySet<PlaybackState> = new Set(['stalled', 'lost', 'missing']);

/**
 * Plays a stream: with hls.js where Media Source Extensions exist, else by the browser itself.
 * @returns a function that stops it
 */
export function startPlayback(
  video: StageVideo,
  url: string,
  { onState, onMuted, retriesMissing, mustBeLive }: PlaybackListener,
  createSource = defaultSource,
): () => void {
  let source: Source | null = null;
  let isStopped = false;
  const picture = pictureOf(() => source?.picture.wallClockMs() ?? null);
  let current: PlaybackState = 'none';
  let lostTimer: ReturnType<typeof setTimeout> | undefined;
  const setState = (state: PlaybackState) => {
    // Each failed retry reports an interruption: it must not restart the timer.
    if (isStopped || (state === 'stalled' && INTERRUPTED.has(current))) return;
    current = state;
    clearTimeout(lostTimer);
    if (state === 'stalled') lostTimer = setTimeout(setState, LOST_AFTER_MS, 'lost');
    onState(state, picture);
  };
  const stopWatching = watchVideoEvents(video, setState);
  const onReady = async () => {
    const result = await autoplay(video);
    if (isStopped) return;
    if (result === 'muted') onMuted();
    if (result === 'press-play') setState(result);
  };
  const listener: SourceListener = {
    onReady: () => void onReady(),
    onMissing: () => setState('missing'),
    onInterrupted: () => setState('stalled'),
    retriesMissing,
    mustBeLive,
  };
  const load = async () => {
    const created = await createSource(video, url, listener).catch(() => null);
    if (isStopped) return created?.stop();
    source = created;
    // Browsers cache the failure of a module until the page is reloaded, so a retry would not help.
    if (!created) setState('not-loaded');
  };
  setState('loading');
  void load();
  return () => {
    isStopped = true;
    clearTimeout(lostTimer);
    stopWatching();
    source?.stop();
  };
}

async function defaultSource(video: StageVideo, url: string, listener: SourceListener) {
  if ('MediaSource' in globalThis || 'ManagedMediaSource' in globalThis) {
    // The largest part of the page, in a chunk of its own: other browsers never load it.
    const { hlsSource } = await import('./hls-source.ts');
    const source = hlsSource(video, url, listener);
    if (source) return source;
  }
  return nativeSource(video, url, listener);
}

/** Maps the events of the `<video>` to states. @returns a function that stops it */
function watchVideoEvents(
  video: HTMLVideoElement,
  setState: (state: PlaybackState) => void,
): () => void {
  const controller = new AbortController();
  let stallTimer: ReturnType<typeof setTimeout> | undefined;
  const on = (type: string, run: () => void) =>
    video.addEventListener(
      type,
      () => {
        clearTimeout(stallTimer);
        run();
      },
      { signal: controller.signal },
    );
  on('playing', () => setState('playing'));
  on('ended', () => setState('over'));
  on('waiting', () => {
    stallTimer = setTimeout(() => setState('stalled'), STALLED_AFTER_MS);
  });
  return () => {
    clearTimeout(stallTimer);
    controller.abort();
  };
}

/** Plays with sound if the browser allows it, else muted. @returns null: plays as wanted */
async function autoplay(video: HTMLVideoElement): Promise<'muted' | 'press-play' | null> {
  const wasMuted = video.muted;
  if (await isPlayAllowed(video)) return null;
  if (wasMuted) return 'press-play';
  video.muted = true;
  if (await isPlayAllowed(video)) return 'muted';
  video.muted = false;
  return 'press-play';
}

/** Whether the browser allows playback now. A `play` that a newer load interrupts was allowed. */
async function isPlayAllowed(video: HTMLVideoElement): Promise<boolean> {
  return video.play().then(
    () => true,
    (error: Error) => error.name !== 'NotAllowedError',
  );
}
