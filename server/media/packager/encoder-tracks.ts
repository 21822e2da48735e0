import { Fmp4Reader } from '../fmp4/fmp4-reader.ts';
import type { Fragment, InitSegment } from '../fmp4/fragment.ts';
import { type Rendition, renditionsOf } from '../ladder.ts';
import type { Track, TrackId } from '../segment.ts';
import { TRACK_SILENCE_MS_MAX } from '../segmenter.ts';
import { AudioGapFiller, audioTrack } from './audio-gaps.ts';
import type { EncoderEvents, EncoderOptions } from './encoder.ts';
import { audioFragmentMs } from './ffmpeg-arguments.ts';
import { silentInit } from './silence.ts';

export const AUDIO_TRACK: TrackId = 'a0';
/** Audio missing for this long, while video arrives, is replaced by silence. */
const AUDIO_MISSING_MS = 2_000;
/** Audio that lags video by less than this is late, not missing. */
const AUDIO_LATE_TOLERANCE_MS = 1_000;
/** Fragments pending until all tracks have begun: a few seconds of the largest renditions. */
const PENDING_BYTES_MAX = 32 << 20;
const NO_INIT_MESSAGE = 'a track has no init segment';

/** Combines the tracks that an encoder writes: all init segments first, then fragments. */
export class EncoderTracks {
  /** The tracks that ffmpeg writes, by pipe. */
  readonly writtenTracks: readonly TrackId[];
  private readonly renditions: readonly Rendition[];
  private readonly readers: readonly Fmp4Reader[];
  private readonly inits = new Map<TrackId, InitSegment>();
  private readonly audio: AudioGapFiller;
  private pending: [TrackId, Fragment][] | null = [];
  private pendingBytes = 0;
  /** Source time at which the first rendition starts, ms. */
  private videoStartMs: number | null = null;
  private videoEndMs = 0;
  private lastAudioAtMs: number | null = null;
  /** Whether generated silence replaces the audio. */
  private isAudioMissing: boolean;

  constructor(
    private readonly options: EncoderOptions,
    private readonly events: Pick<EncoderEvents, 'onInits' | 'onFragment' | 'onAudioMissing'>,
  ) {
    this.renditions = renditionsOf(options.source, options.settings.ladder);
    const videoTracks = this.renditions.map(({ id }) => id);
    this.writtenTracks = options.source.hasAudio ? [...videoTracks, AUDIO_TRACK] : videoTracks;
    this.readers = this.writtenTracks.map(() => new Fmp4Reader());
    this.audio = new AudioGapFiller(audioFragmentMs(options.settings));
    this.isAudioMissing = !options.source.hasAudio;
    if (this.isAudioMissing) this.inits.set(AUDIO_TRACK, silentInit());
  }

  /**
   * Accepts output of the encoder.
   * @param index of the pipe
   * @param nowMs monotonic time
   * @throws Error when the output is invalid
   */
  push(index: number, bytes: Uint8Array, nowMs: number): void {
    const id = this.writtenTracks[index];
    const reader = this.readers[index];
    if (id === undefined || !reader) throw new Error(`there is no pipe ${index}`);
    for (const item of reader.push(bytes)) {
      if (item.kind === 'init') this.addInit(id, item.init);
      else this.addFragment(id, item.fragment, nowMs);
    }
  }

  /** Fills in silence when audio is missing. Call periodically. @param nowMs monotonic time */
  checkAudio(nowMs: number): void {
    if (this.videoStartMs === null || this.lastAudioAtMs === null || !this.options.source.hasAudio)
      return;
    if (nowMs - this.lastAudioAtMs < AUDIO_MISSING_MS) return;
    if (this.audio.lagMs(this.videoStartMs, this.videoEndMs) < AUDIO_LATE_TOLERANCE_MS) return;
    if (!this.inits.has(AUDIO_TRACK)) this.addInit(AUDIO_TRACK, silentInit());
    this.setAudioMissing(true);
    this.fillAudio(this.videoStartMs);
  }

  private setAudioMissing(isMissing: boolean): void {
    if (this.isAudioMissing === isMissing) return;
    this.isAudioMissing = isMissing;
    this.events.onAudioMissing(isMissing);
  }

  private addInit(id: TrackId, init: InitSegment): void {
    // Ignore the init segment of audio that arrives after generated silence; both are equivalent.
    if (this.pending === null) return;
    this.inits.set(id, init);
    if (this.inits.size < this.renditions.length + 1) return;
    const { pending } = this;
    this.pending = null;
    this.events.onInits(this.tracks(), this.inits);
    for (const [track, fragment] of pending) this.events.onFragment(track, fragment);
  }

  private addFragment(id: TrackId, fragment: Fragment, nowMs: number): void {
    if (id === AUDIO_TRACK) {
      if (!this.audio.accept(fragment)) return;
      this.lastAudioAtMs = nowMs;
      this.setAudioMissing(false);
      this.emit(id, fragment);
      return;
    }
    this.emit(id, fragment);
    if (id === this.renditions[0]?.id) this.onVideoFragment(fragment, nowMs);
  }

  private onVideoFragment({ startTicks, durationTicks }: Fragment, nowMs: number): void {
    this.lastAudioAtMs ??= nowMs;
    this.videoStartMs ??= this.videoMs(startTicks);
    this.videoEndMs = this.videoMs(startTicks + durationTicks);
    // Silence for all of it would be generated at once, and is refused after this time.
    if (this.pending && this.videoEndMs - this.videoStartMs > TRACK_SILENCE_MS_MAX)
      throw new Error(NO_INIT_MESSAGE);
    if (this.isAudioMissing) this.fillAudio(this.videoStartMs);
  }

  private videoMs(ticks: number): number {
    return (ticks * 1000) / (this.inits.get(this.renditions[0]?.id ?? '')?.timescale ?? 1);
  }

  private fillAudio(startMs: number): void {
    for (const fragment of this.audio.fill(startMs, this.videoEndMs))
      this.emit(AUDIO_TRACK, fragment);
  }

  private emit(id: TrackId, fragment: Fragment): void {
    if (!this.pending) {
      this.events.onFragment(id, fragment);
      return;
    }
    this.pendingBytes += fragment.bytes.length;
    if (this.pendingBytes > PENDING_BYTES_MAX) throw new Error(NO_INIT_MESSAGE);
    this.pending.push([id, fragment]);
  }

  /** Call when all init segments are known. */
  private tracks(): Track[] {
    const { source, settings } = this.options;
    const { frameRate } = source;
    const videos = this.renditions.map(({ id, width, height, maxBitsPerS: bandwidth }): Track => {
      const { codec, timescale } = this.inits.get(id) as InitSegment;
      return { id, kind: 'video', codec, timescale, bandwidth, width, height, frameRate };
    });
    const audioInit = this.inits.get(AUDIO_TRACK) as InitSegment;
    return [...videos, audioTrack(AUDIO_TRACK, audioInit, audioFragmentMs(settings))];
  }
}
