import { ExternalStore } from '../ui/external-store.ts';
import { positionAtMs, type RecordedSegment, recordedAtMs } from './recording-times.ts';

/** A recording that is open in a video element. */
export interface OpenRecording {
  segments(): readonly RecordedSegment[];
  stop(): void;
}

/** Callbacks of an open recording. */
export interface RecordingEvents {
  /** The recording does not exist (any more). */
  onAbsent(): void;
}

export type OpenRecordingIn = (
  video: HTMLVideoElement,
  url: string,
  events: RecordingEvents,
) => Promise<OpenRecording>;

export interface RecordingSnapshot {
  /** `not-loaded`: the player could not be loaded; only a reload of the page helps. */
  readonly state: 'loading' | 'ready' | 'absent' | 'not-loaded';
  /** Capture time of the frame on screen, Unix ms; null: unknown. */
  readonly shownMs: number | null;
}

/** The `readyState` from which an element can seek. */
const HAVE_METADATA = 1;
/** Events after which the position may have changed. */
const POSITION_EVENTS = ['loadedmetadata', 'timeupdate', 'seeking', 'seeked'] as const;

/** The recording of a show, with positions as wall-clock times. */
export class Recording extends ExternalStore<RecordingSnapshot> {
  readonly #open: OpenRecordingIn;
  #video: HTMLVideoElement | null = null;
  #recorded: OpenRecording | null = null;
  /** A seek requested before the recording was ready, Unix ms. */
  #pendingSeekMs: number | null = null;

  constructor(open: OpenRecordingIn) {
    super({ state: 'loading', shownMs: null });
    this.#open = open;
  }

  /** Opens the recording in an element. @returns closes it */
  start(video: HTMLVideoElement, url: string): () => void {
    const ending = new AbortController();
    this.#video = video;
    for (const type of POSITION_EVENTS) video.addEventListener(type, () => this.#refresh(), ending);
    const onAbsent = () => this.update({ state: 'absent', shownMs: null });
    const onNotLoaded = () => {
      if (!ending.signal.aborted) this.update({ state: 'not-loaded', shownMs: null });
    };
    this.#open(video, url, { onAbsent }).then((recorded) => {
      if (ending.signal.aborted) return recorded.stop();
      this.#recorded = recorded;
      this.#refresh();
    }, onNotLoaded);
    return () => {
      ending.abort();
      this.#recorded?.stop();
      this.#recorded = null;
      this.#video = null;
      if (this.snapshot.state === 'ready') this.update({ state: 'loading', shownMs: null });
    };
  }

  /** Seeks to the frame of a time, as soon as possible. @param atMs Unix ms */
  seek(atMs: number): void {
    this.#pendingSeekMs = atMs;
    this.#refresh();
  }

  /** Scrolls to the video and focuses it. */
  show(): void {
    this.#video?.scrollIntoView({ block: 'center' });
    this.#video?.focus({ preventScroll: true });
  }

  #refresh(): void {
    const [video, segments] = [this.#video, this.#recorded?.segments() ?? []];
    if (!video || video.readyState < HAVE_METADATA || segments.length === 0) return;
    const seekS = this.#pendingSeekMs === null ? null : positionAtMs(segments, this.#pendingSeekMs);
    this.#pendingSeekMs = null;
    if (seekS !== null) video.currentTime = seekS;
    this.update({ state: 'ready', shownMs: recordedAtMs(segments, video.currentTime) });
  }
}
