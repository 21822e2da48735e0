import { Fmp4Reader } from '../fmp4/fmp4-reader.ts';
import type { Fragment, InitSegment } from '../fmp4/fragment.ts';
import { type Rendition, renditionsOf } from '../ladder.ts';
import type { Track, TrackId } from '../segment.ts';
import type { EncoderEvents, EncoderPlan } from './encoder.ts';
import { soundFragmentMs } from './ffmpeg-arguments.ts';
import { silentInit } from './silence.ts';
import { SoundLine, soundTrack } from './sound.ts';

const SOUND: TrackId = 'a0';
/** Sound that did not come for this long, while the picture did, is replaced by silence. */
const SOUND_UNAVAILABLE_MS = 2_000;
/** Sound that is this near to the picture is only late. */
const SOUND_NEAR_MS = 1_000;
/** Of fragments before all tracks began: some seconds of the largest renditions. */
const HELD_BYTES_MAX = 32 << 20;

/** What an encoder writes, track by track, put together: all inits first, then fragments. */
export class EncoderTracks {
  /** What ffmpeg writes, pipe by pipe. */
  readonly written: readonly TrackId[];
  private readonly renditions: readonly Rendition[];
  private readonly readers: readonly Fmp4Reader[];
  private readonly inits = new Map<TrackId, InitSegment>();
  private readonly sound: SoundLine;
  private held: [TrackId, Fragment][] | null = [];
  private heldBytes = 0;
  /** Source time of the first rendition, ms. */
  private startMs: number | null = null;
  private endMs = 0;
  private soundAtMs: number | null = null;
  /** Silence is made for each picture that comes. */
  private isSoundUnavailable: boolean;

  constructor(
    private readonly plan: EncoderPlan,
    private readonly events: Pick<EncoderEvents, 'onInits' | 'onFragment'>,
  ) {
    this.renditions = renditionsOf(plan.source, plan.settings.ladder);
    const pictures = this.renditions.map(({ id }) => id);
    this.written = plan.source.hasAudio ? [...pictures, SOUND] : pictures;
    this.readers = this.written.map(() => new Fmp4Reader());
    this.sound = new SoundLine(soundFragmentMs(plan.settings));
    this.isSoundUnavailable = !plan.source.hasAudio;
    if (this.isSoundUnavailable) this.inits.set(SOUND, silentInit());
  }

  /**
   * @param index of the pipe
   * @param nowMs of a clock that goes on evenly
   * @throws Error when it is not what an encoder writes
   */
  push(index: number, bytes: Uint8Array, nowMs: number): void {
    const id = this.written[index];
    const reader = this.readers[index];
    if (id === undefined || !reader) throw new Error(`there is no track ${index}`);
    for (const item of reader.push(bytes)) {
      if (item.kind === 'init') this.begins(id, item.init);
      else this.take(id, item.fragment, nowMs);
    }
  }

  /** Looks whether sound has stayed away. To be called now and then. */
  look(nowMs: number): void {
    if (this.startMs === null || this.soundAtMs === null || !this.plan.source.hasAudio) return;
    if (nowMs - this.soundAtMs < SOUND_UNAVAILABLE_MS) return;
    if (this.sound.behindMs(this.startMs, this.endMs) < SOUND_NEAR_MS) return;
    if (!this.inits.has(SOUND)) this.begins(SOUND, silentInit());
    this.isSoundUnavailable = true;
    this.fillSound(this.startMs);
  }

  private begins(id: TrackId, init: InitSegment): void {
    // The encoder's own sound, after silence that began for it: the same to a player.
    if (this.held === null) return;
    this.inits.set(id, init);
    if (this.inits.size < this.renditions.length + 1) return;
    const { held } = this;
    this.held = null;
    this.events.onInits(this.tracks(), this.inits);
    for (const [track, fragment] of held) this.events.onFragment(track, fragment);
  }

  private take(id: TrackId, fragment: Fragment, nowMs: number): void {
    if (id === SOUND) {
      if (!this.sound.takes(fragment)) return;
      this.soundAtMs = nowMs;
      this.isSoundUnavailable = false;
      this.tell(id, fragment);
      return;
    }
    this.tell(id, fragment);
    if (id === this.renditions[0]?.id) this.pictureCame(fragment, nowMs);
  }

  private pictureCame({ startTicks, durationTicks }: Fragment, nowMs: number): void {
    this.soundAtMs ??= nowMs;
    this.startMs ??= this.pictureMs(startTicks);
    this.endMs = this.pictureMs(startTicks + durationTicks);
    if (this.isSoundUnavailable) this.fillSound(this.startMs);
  }

  private pictureMs(ticks: number): number {
    return (ticks * 1000) / (this.inits.get(this.renditions[0]?.id ?? '')?.timescale ?? 1);
  }

  private fillSound(startMs: number): void {
    for (const fragment of this.sound.fill(startMs, this.endMs)) this.tell(SOUND, fragment);
  }

  private tell(id: TrackId, fragment: Fragment): void {
    if (!this.held) {
      this.events.onFragment(id, fragment);
      return;
    }
    this.heldBytes += fragment.bytes.length;
    if (this.heldBytes > HELD_BYTES_MAX) throw new Error('a track did not begin');
    this.held.push([id, fragment]);
  }

  private tracks(): Track[] {
    const tracks: Track[] = [];
    for (const { id, width, height, maxBitsPerS } of this.renditions) {
      const init = this.inits.get(id);
      if (!init) continue;
      const { codec, timescale } = init;
      const { frameRate } = this.plan.source;
      const bandwidth = maxBitsPerS;
      tracks.push({ id, kind: 'video', codec, timescale, bandwidth, width, height, frameRate });
    }
    const sound = this.inits.get(SOUND);
    return sound
      ? [...tracks, soundTrack(SOUND, sound, soundFragmentMs(this.plan.settings))]
      : tracks;
  }
}
