import { ExternalStore } from '../ui/external-store.ts';
import { BrowserSource, type BrowserSourceState, browserOf } from './browser-source.ts';
import { texts } from './texts.ts';

/** The camera of this browser while it is sent to a stream. */
export interface Camera {
  readonly streamId: string;
  readonly media: MediaStream;
  readonly source: BrowserSourceState;
}

const { errors } = texts.camera;

const VIDEO = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } } as const;
const AUDIO = { echoCancellation: true, noiseSuppression: true } as const;

/** The chosen devices; an empty id leaves the choice to the browser. */
export interface CameraDevices {
  readonly cameraId: string;
  readonly microphoneId: string;
}

/** The cameras and microphones of this machine. Without permission browsers hide their names. */
export async function listDevices(): Promise<readonly MediaDeviceInfo[]> {
  return (await navigator.mediaDevices?.enumerateDevices()) ?? [];
}

/**
 * Asks for permission to use the devices, because browsers hide their names before, and lists them.
 * @throws Error with a message for the user
 */
export async function listNamedDevices(): Promise<readonly MediaDeviceInfo[]> {
  const media = await requestMedia({ video: true, audio: true });
  stopTracks(media);
  return listDevices();
}

async function requestMedia(constraints: MediaStreamConstraints): Promise<MediaStream> {
  if (!navigator.mediaDevices) {
    throw new Error(errors.insecure);
  }
  return navigator.mediaDevices.getUserMedia(constraints).catch((error: Error) => {
    throw new Error(errorText(error));
  });
}

function constraintsFor({ cameraId, microphoneId }: CameraDevices): MediaStreamConstraints {
  const exactly = (id: string) => (id === '' ? {} : { deviceId: { exact: id } });
  return {
    video: { ...VIDEO, ...exactly(cameraId) },
    audio: { ...AUDIO, ...exactly(microphoneId) },
  };
}

/** The camera that is live, or was last; null: none. It stays live while the user visits other studio pages. */
export class CameraStore extends ExternalStore<Camera | null> {
  #sending: BrowserSource<MediaStream> | null = null;

  constructor() {
    super(null);
  }

  /**
   * Requests camera and microphone and sends them.
   * @throws when the browser has none or access is denied
   */
  async start(streamId: string, url: string, key: string, devices: CameraDevices): Promise<void> {
    this.stop();
    const media = await requestMedia(constraintsFor(devices));
    const onState = (source: BrowserSourceState) => {
      // Else the light of a camera that nobody sees would stay on.
      if (hasStopped(source)) stopTracks(media);
      this.update({ streamId, media, source });
    };
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
    if (this.snapshot) stopTracks(this.snapshot.media);
    this.update(null);
  }

  /** Asks before unloading the page, which would end the video. */
  readonly #confirmUnload = (event: BeforeUnloadEvent): void => {
    if (this.snapshot && !hasStopped(this.snapshot.source)) event.preventDefault();
  };
}

/** Whether the source sends nothing more. */
export function hasStopped({ state }: BrowserSourceState): boolean {
  return state === 'refused' || state === 'stopped';
}

function stopTracks(media: MediaStream): void {
  for (const track of media.getTracks()) track.stop();
}

function errorText({ name, message }: Error): string {
  if (name === 'NotAllowedError') return errors.notAllowed;
  if (name === 'NotFoundError') return errors.notFound;
  if (name === 'OverconstrainedError') return errors.overconstrained;
  if (name === 'NotReadableError') return errors.notReadable;
  return message;
}
