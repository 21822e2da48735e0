import { pictureOf } from '../../sdk/pictures.ts';
import type { Picture } from '../../sdk/types.ts';
import { nativeSource } from './native-source.ts';
import type { Source, SourceListener } from './source.ts';
import type { StageVideo } from './stage-video.ts';

/**
 * How the picture is.
 *
 * - `none`: nobody tries to play it.
 * - `loading`: it has not begun.
 * - `playing`: it is on screen, or was paused there by the viewer.
 * - `stalled`: it was interrupted, and goes on by itself.
 * - `lost`: so for long; it goes on by itself all the same.
 * - `press-play`: the browser wants to be asked by the viewer first.
 * - `absent`: there is none (yet).
 * - `over`: this was its end.
 * - `unloaded`: what plays it could not be loaded.
 */
export type PlaybackState =
  | 'none'
  | 'loading'
  | 'playing'
  | 'stalled'
  | 'lost'
  | 'press-play'
  | 'absent'
  | 'over'
  | 'unloaded';

export interface PlaybackListener {
  /** @param picture the wall clock of its frames, always the same */
  onState(state: PlaybackState, picture: Picture): void;
  /** The browser plays it only without sound, unless the viewer asks for it. */
  onSilenced(): void;
  /** Whether one that is absent is to be tried again; one that is broken always is. */
  mayCome(): boolean;
}

// A player that is short of data for less than this goes on by itself, and nobody needs a word.
const PATIENCE_MS = 1_500;
// One that was interrupted for so long keeps nobody from what happens.
const LOST_MS = 10_000;
/** It is no news then that it is interrupted. */
const INTERRUPTED: ReadonlySet<PlaybackState> = new Set(['stalled', 'lost', 'absent']);

/**
 * Plays a stream: with hls.js where Media Source Extensions are, else by the browser itself.
 * @param bringSource what plays it
 * @returns what ends it
 */
export function startPlayback(
  video: StageVideo,
  url: string,
  { onState, onSilenced, mayCome }: PlaybackListener,
  bringSource = sourceOf,
): () => void {
  let source: Source | null = null;
  let isStopped = false;
  const picture = pictureOf(() => source?.picture.wallClockMs() ?? null);
  let now: PlaybackState = 'none';
  let losing: ReturnType<typeof setTimeout> | undefined;
  const tell = (state: PlaybackState) => {
    // Each try that fails says that it is interrupted: it is no less lost for that.
    if (isStopped || (state === 'stalled' && INTERRUPTED.has(now))) return;
    now = state;
    clearTimeout(losing);
    if (state === 'stalled') losing = setTimeout(tell, LOST_MS, 'lost');
    onState(state, picture);
  };
  const stopTelling = tellStates(video, tell);
  const onReady = async () => {
    const trouble = await begin(video);
    if (isStopped) return;
    if (trouble === 'silenced') onSilenced();
    if (trouble === 'press-play') tell(trouble);
  };
  const listener: SourceListener = {
    onReady: () => void onReady(),
    onAbsent: () => tell('absent'),
    onBroken: () => tell('stalled'),
    mayCome,
  };
  const bring = async () => {
    const made = await bringSource(video, url, listener).catch(() => null);
    if (isStopped) return made?.stop();
    source = made;
    // Browsers keep in mind that it could not be loaded: they do not try again before a reload.
    if (!made) tell('unloaded');
  };
  tell('loading');
  void bring();
  return () => {
    isStopped = true;
    clearTimeout(losing);
    stopTelling();
    source?.stop();
  };
}

async function sourceOf(video: StageVideo, url: string, listener: SourceListener): Promise<Source> {
  if ('MediaSource' in globalThis || 'ManagedMediaSource' in globalThis) {
    // The heaviest part of the page, in a file of its own: others never load it.
    const { hlsSource } = await import('./hls-source.ts');
    const source = hlsSource(video, url, listener);
    if (source) return source;
  }
  return nativeSource(video, url, listener);
}

/** @returns what ends it */
function tellStates(video: HTMLVideoElement, tell: (state: PlaybackState) => void): () => void {
  const ending = new AbortController();
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const on = (type: string, run: () => void) =>
    video.addEventListener(
      type,
      () => {
        clearTimeout(waiting);
        run();
      },
      { signal: ending.signal },
    );
  on('playing', () => tell('playing'));
  on('ended', () => tell('over'));
  on('waiting', () => {
    waiting = setTimeout(() => tell('stalled'), PATIENCE_MS);
  });
  return () => {
    clearTimeout(waiting);
    ending.abort();
  };
}

/** With sound, where the browser lets us. */
async function begin(video: HTMLVideoElement): Promise<'silenced' | 'press-play' | null> {
  const wasMuted = video.muted;
  if (await plays(video)) return null;
  if (wasMuted) return 'press-play';
  video.muted = true;
  if (await plays(video)) return 'silenced';
  video.muted = false;
  return 'press-play';
}

/** Whether the browser plays it without a word of the viewer. One that a newer load replaced does. */
async function plays(video: HTMLVideoElement): Promise<boolean> {
  return video.play().then(
    () => true,
    (error: Error) => error.name !== 'NotAllowedError',
  );
}
