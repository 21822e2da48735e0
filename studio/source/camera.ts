import { ExternalStore } from '../ui/external-store.ts';
import { BrowserSource, type BrowserSourceState, browserOf } from './browser-source.ts';

/** The camera of this browser while it is sent to a stream. */
export interface Camera {
  readonly streamId: string;
  readonly media: MediaStream;
  readonly source: BrowserSourceState;
}

const CONSTRAINTS = {
  video: { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } },
  audio: { echoCancellation: true, noiseSuppression: true },
} as const;

/** The camera that is live; null: none. It stays live while the user visits other studio pages. */
export class CameraStore extends ExternalStore<Camera | null> {
  #sending: BrowserSource<MediaStream> | null = null;

  constructor() {
    super(null);
  }

  /**
   * Requests camera and microphone and sends them.
   * @throws when the browser has none or access is denied
   */
  async start(streamId: string, url: string, key: string): Promise<void> {
    this.stop();
    if (!navigator.mediaDevices) {
      throw new Error(
        'The camera needs a secure connection. Open the studio over https:// or on localhost.',
      );
    }
    const media = await navigator.mediaDevices.getUserMedia(CONSTRAINTS).catch((error: Error) => {
      throw new Error(errorText(error));
    });
    const onState = (source: BrowserSourceState) => this.update({ streamId, media, source });
    this.#sending = new BrowserSource({
      stream: media,
      url,
      key,
      onState,
      browser: browserOf<MediaStream>(globalThis),
    });
    this.#sending.start();
    addEventListener('beforeunload', this.#confirmUnload);
  }

  stop(): void {
    removeEventListener('beforeunload', this.#confirmUnload);
    this.#sending?.stop();
    this.#sending = null;
    for (const track of this.snapshot?.media.getTracks() ?? []) track.stop();
    this.update(null);
  }

  /** Asks before unloading the page, which would end the video. */
  readonly #confirmUnload = (event: BeforeUnloadEvent): void => {
    const state = this.snapshot?.source.state;
    if (state !== undefined && state !== 'refused' && state !== 'stopped') event.preventDefault();
  };
}

function errorText({ name, message }: Error): string {
  if (name === 'NotAllowedError')
    return 'Camera access is blocked. Allow it for this page in your browser.';
  if (name === 'NotFoundError') return 'No camera or microphone found. Connect one and try again.';
  if (name === 'NotReadableError') return 'Another program uses the camera. Close it first.';
  return message;
}
