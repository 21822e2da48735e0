import type { Viewer } from '../../sdk/viewer.ts';
import { type Command, type HostPageMessage, parseCommand } from './messages.ts';

/** The page that contains the player in a frame. */
export interface HostPage {
  post(message: HostPageMessage & { readonly source: 'fourbeat' }): void;
  /** @returns a function that removes the listener */
  onMessage(listener: (data: unknown) => void): () => void;
}

/** The part of the `<video>` that the bridge needs. */
export interface BridgedVideo extends EventTarget {
  readonly paused: boolean;
  muted: boolean;
  play(): Promise<void>;
  pause(): void;
}

const VIDEO_EVENTS = ['playing', 'pause', 'ended', 'emptied', 'volumechange'];

/**
 * The parent of a framed page, by `postMessage`.
 * @param origin of the parent: messages go to it and come from it only
 * @returns null when the page is not in a frame
 */
export function hostPageOf(page: Window, origin: string): HostPage | null {
  const { parent } = page;
  if (parent === page) return null;
  return {
    post: (message) => parent.postMessage(message, origin),
    onMessage: (listener) => {
      const onEvent = (event: MessageEvent) => {
        if (event.source === parent && event.origin === origin) listener(event.data);
      };
      page.addEventListener('message', onEvent);
      return () => page.removeEventListener('message', onEvent);
    },
  };
}

/** Reports the viewer's state to the host page and executes its commands. @returns a stop function */
export function startHostPageBridge(
  viewer: Viewer,
  video: BridgedVideo,
  hostPage: HostPage,
): () => void {
  const post = (message: HostPageMessage) => hostPage.post({ source: 'fourbeat', ...message });
  /** What was posted last, as JSON, by message type. */
  const posted = new Map<string, string>();
  const postIfChanged = (message: HostPageMessage, compared: unknown = message) => {
    const json = JSON.stringify(compared);
    if (posted.get(message.type) === json) return;
    posted.set(message.type, json);
    post(message);
  };
  const postState = () => {
    const { state, stream } = viewer.snapshot;
    const { paused, muted } = video;
    const status = stream?.status ?? null;
    postIfChanged({ type: 'state', state, status, isPlaying: !paused, isMuted: muted });
  };
  const postAll = () => {
    const { count, quiz } = viewer.snapshot;
    postState();
    if (count) postIfChanged({ type: 'count', ...count });
    // The remaining time alone is no change.
    postIfChanged({ type: 'quiz', quiz, remainingMs: viewer.remainingMs() }, quiz);
  };
  const unsubscribes = [
    viewer.on('change', postAll),
    viewer.on('event', ({ interval, type, data }) =>
      post({ type: 'event', interval, event: { type, data } }),
    ),
    hostPage.onMessage((data) => {
      const command = parseCommand(data);
      if (command) execute(command, viewer, video);
    }),
  ];
  for (const type of VIDEO_EVENTS) video.addEventListener(type, postState);
  post({ type: 'ready', streamId: viewer.streamId });
  postAll();
  return () => {
    for (const unsubscribe of unsubscribes) unsubscribe();
    for (const type of VIDEO_EVENTS) video.removeEventListener(type, postState);
  };
}

function execute(command: Command, viewer: Viewer, video: BridgedVideo): void {
  switch (command.type) {
    case 'play':
      // When the browser refuses, `isPlaying` stays false.
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
