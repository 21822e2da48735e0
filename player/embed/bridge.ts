import type { Viewer } from '../../sdk/viewer.ts';
import { type Command, commandOf, type Told } from './messages.ts';

/** The page that this one is in. */
export interface Outside {
  post(message: Told & { readonly source: 'fourbeat' }): void;
  /** @returns what ends it */
  onMessage(listener: (data: unknown) => void): () => void;
}

/** What is needed of the `<video>`. */
export interface BridgedVideo extends EventTarget {
  readonly paused: boolean;
  muted: boolean;
  play(): Promise<void>;
  pause(): void;
}

const VIDEO_EVENTS = ['playing', 'pause', 'ended', 'emptied', 'volumechange'];

/**
 * The page's parent, by `postMessage`.
 * @param origin of that parent: others hear nothing, and are not heard
 * @returns null when the page is in no other
 */
export function outsideOf(page: Window, origin: string): Outside | null {
  const { parent } = page;
  if (parent === page) return null;
  return {
    post: (message) => parent.postMessage(message, origin),
    onMessage: (listener) => {
      const hear = (event: MessageEvent) => {
        if (event.source === parent && event.origin === origin) listener(event.data);
      };
      page.addEventListener('message', hear);
      return () => page.removeEventListener('message', hear);
    },
  };
}

/** Tells the page outside what happens here, and does what it says. @returns what ends it */
export function startBridge(viewer: Viewer, video: BridgedVideo, outside: Outside): () => void {
  const tell = (told: Told) => outside.post({ source: 'fourbeat', ...told });
  const told = new Map<string, string>();
  /** Not again what was told last. */
  const tellChange = (change: Told, by: unknown = change) => {
    const text = JSON.stringify(by);
    if (told.get(change.type) === text) return;
    told.set(change.type, text);
    tell(change);
  };
  const tellState = () => {
    const { state, stream } = viewer.snapshot;
    const { paused, muted } = video;
    const status = stream?.status ?? null;
    tellChange({ type: 'state', state, status, isPlaying: !paused, isMuted: muted });
  };
  const tellAll = () => {
    const { count, quiz } = viewer.snapshot;
    tellState();
    if (count) tellChange({ type: 'count', ...count });
    // What is left of its time is no change.
    tellChange({ type: 'quiz', quiz, remainingMs: viewer.remainingMs() }, quiz);
  };
  const ends = [
    viewer.on('change', tellAll),
    viewer.on('event', ({ interval, type, data }) =>
      tell({ type: 'event', interval, event: { type, data } }),
    ),
    outside.onMessage((data) => {
      const command = commandOf(data);
      if (command) obey(command, viewer, video);
    }),
  ];
  for (const type of VIDEO_EVENTS) video.addEventListener(type, tellState);
  tell({ type: 'ready', streamId: viewer.streamId });
  tellAll();
  return () => {
    for (const end of ends) end();
    for (const type of VIDEO_EVENTS) video.removeEventListener(type, tellState);
  };
}

function obey(command: Command, viewer: Viewer, video: BridgedVideo): void {
  switch (command.type) {
    case 'play':
      // Where the browser does not let it, `isPlaying` stays false.
      video.play().catch(() => {});
      break;
    case 'pause':
      video.pause();
      break;
    case 'mute':
    case 'unmute':
      video.muted = command.type === 'mute';
      break;
    case 'name':
      viewer.name = command.name;
      break;
  }
}
