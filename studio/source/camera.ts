import { BrowserSource, type BrowserSourceState, browserOf } from './browser-source.ts';

/** The camera of this browser, as it is sent to one stream. */
export interface Camera {
  readonly streamId: string;
  readonly picture: MediaStream;
  readonly source: BrowserSourceState;
}

const ASKED = {
  video: { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } },
  audio: { echoCancellation: true, noiseSuppression: true },
} as const;

/**
 * The camera that is on air. It belongs to the tab and not to a page of it: whoever goes on to
 * another part of the studio stays on air.
 */
export class CameraOnAir {
  #camera: Camera | null = null;
  #sending: BrowserSource<MediaStream> | null = null;
  readonly #listeners = new Set<() => void>();

  get current(): Camera | null {
    return this.#camera;
  }

  /** @returns what ends it */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /**
   * Asks for camera and microphone, and sends what they see and hear.
   * @throws when the browser has none, or whoever is asked says no
   */
  async start(streamId: string, url: string, key: string): Promise<void> {
    this.stop();
    if (!navigator.mediaDevices) {
      throw new Error('Browsers open the camera at https:// and at localhost only.');
    }
    const picture = await navigator.mediaDevices.getUserMedia(ASKED).catch((error: Error) => {
      throw new Error(wordsOf(error));
    });
    const onState = (source: BrowserSourceState) => this.#take({ streamId, picture, source });
    this.#sending = new BrowserSource({
      stream: picture,
      url,
      key,
      onState,
      browser: browserOf<MediaStream>(globalThis),
    });
    this.#sending.start();
    addEventListener('beforeunload', this.#askFirst);
  }

  /** Takes it off air, and the camera's light goes out. */
  stop(): void {
    removeEventListener('beforeunload', this.#askFirst);
    this.#sending?.stop();
    this.#sending = null;
    for (const track of this.#camera?.picture.getTracks() ?? []) track.stop();
    this.#take(null);
  }

  /** The picture goes with the tab: a reload by mistake would end the show. */
  readonly #askFirst = (event: BeforeUnloadEvent): void => {
    const state = this.#camera?.source.state;
    if (state !== undefined && state !== 'refused' && state !== 'stopped') event.preventDefault();
  };

  #take(camera: Camera | null): void {
    this.#camera = camera;
    for (const listener of this.#listeners) listener();
  }
}

function wordsOf({ name, message }: Error): string {
  if (name === 'NotAllowedError') return 'The browser was told not to give this page the camera.';
  if (name === 'NotFoundError') return 'There is no camera or no microphone here.';
  if (name === 'NotReadableError') return 'Another program has the camera.';
  return message;
}
