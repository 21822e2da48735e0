import { type FilmedSegment, filmedAtMs, placeFilmedAt } from './wall-clock.ts';

/** A recording as it is in an element. */
export interface RecordedVideo {
  segments(): readonly FilmedSegment[];
  stop(): void;
}

/** Who hears of it. */
export interface RecordingEvents {
  /** It is not to be had (any more). */
  onAbsent(): void;
}

export type OpenVideo = (
  video: HTMLVideoElement,
  url: string,
  events: RecordingEvents,
) => Promise<RecordedVideo>;

export interface RecordingSnapshot {
  readonly state: 'loading' | 'ready' | 'absent';
  /** When the frame on screen was filmed, Unix ms; null: not known (yet). */
  readonly shownMs: number | null;
}

/** A `readyState`: from here on an element knows its places. */
const HAVE_METADATA = 1;
/** The element moved, by itself or because somebody said so. */
const MOVES = ['loadedmetadata', 'timeupdate', 'seeking', 'seeked'] as const;

/** The recording of a show: it is known by the time at which things were, and not by that of a player. */
export class Recording {
  readonly #open: OpenVideo;
  readonly #listeners = new Set<() => void>();
  #snapshot: RecordingSnapshot = { state: 'loading', shownMs: null };
  #video: HTMLVideoElement | null = null;
  #recorded: RecordedVideo | null = null;
  /** Where somebody wanted to go while it was not there yet, Unix ms. */
  #wantedMs: number | null = null;

  constructor(open: OpenVideo) {
    this.#open = open;
  }

  get snapshot(): RecordingSnapshot {
    return this.#snapshot;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** @returns what ends it */
  start(video: HTMLVideoElement, url: string): () => void {
    const ending = new AbortController();
    this.#video = video;
    for (const move of MOVES) video.addEventListener(move, () => this.#look(), ending);
    const onAbsent = () => this.#tell({ state: 'absent', shownMs: null });
    this.#open(video, url, { onAbsent }).then((recorded) => {
      if (ending.signal.aborted) return recorded.stop();
      this.#recorded = recorded;
      this.#look();
    }, onAbsent);
    return () => {
      ending.abort();
      this.#recorded?.stop();
      this.#recorded = null;
      this.#video = null;
      if (this.#snapshot.state === 'ready') this.#tell({ state: 'loading', shownMs: null });
    };
  }

  /** Shows the frame that was filmed at a moment, or as soon as there is one. @param atMs Unix ms */
  seek(atMs: number): void {
    this.#wantedMs = atMs;
    this.#look();
  }

  /** Brings it before the eyes of who is somewhere else in the page, and there the keyboard, too. */
  show(): void {
    this.#video?.scrollIntoView({ block: 'center' });
    this.#video?.focus({ preventScroll: true });
  }

  #look(): void {
    const [video, segments] = [this.#video, this.#recorded?.segments() ?? []];
    if (!video || video.readyState < HAVE_METADATA || segments.length === 0) return;
    const wantedS = this.#wantedMs === null ? null : placeFilmedAt(segments, this.#wantedMs);
    this.#wantedMs = null;
    if (wantedS !== null) video.currentTime = wantedS;
    this.#tell({ state: 'ready', shownMs: filmedAtMs(segments, video.currentTime) });
  }

  #tell(snapshot: RecordingSnapshot): void {
    this.#snapshot = snapshot;
    for (const listener of this.#listeners) listener();
  }
}
