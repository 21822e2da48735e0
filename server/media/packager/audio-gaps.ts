import type { Fragment, InitSegment } from '../fmp4/fragment.ts';
import type { AudioTrack, TrackId } from '../segment.ts';
import { TRACK_SILENCE_MS_MAX } from '../segmenter.ts';
import { AUDIO_SAMPLE_RATE } from './ffmpeg-arguments.ts';
import { silentFragment } from './silence.ts';

// The encoder keeps its average rate, but may exceed it within a second.
const AUDIO_BITS_PER_S_MAX = 160_000;
// Size of the boxes of a fragment, which has at least one frame of 21 ms.
const FRAGMENT_BITS = 1_150;
const FRAGMENT_MS_MIN = 21;

export function audioTrack(id: TrackId, init: InitSegment, fragmentMs: number): AudioTrack {
  const fragmentsPerS = 1000 / Math.max(fragmentMs, FRAGMENT_MS_MIN);
  return {
    id,
    kind: 'audio',
    codec: init.codec,
    timescale: init.timescale,
    bandwidth: Math.ceil(AUDIO_BITS_PER_S_MAX + fragmentsPerS * FRAGMENT_BITS),
    sampleRate: AUDIO_SAMPLE_RATE,
    channels: 2,
  };
}

/**
 * Fills missing audio with silence, so that every segment has the same tracks. Silence is generated
 * here, because a silent input of ffmpeg would keep it running after the end of the source and could
 * not replace a muted microphone.
 */
export class AudioGapFiller {
  /** Source time at which the audio ends, in samples; null before the first. */
  private endTicks: number | null = null;
  /** Source time at which its newest fragment starts, in samples. */
  private newestTicks = Number.NEGATIVE_INFINITY;

  /** @param fragmentMs duration of silent fragments */
  constructor(private readonly fragmentMs: number) {}

  /** @returns false when silence already covers this fragment */
  accept(fragment: Fragment): boolean {
    const overlapTicks = (this.endTicks ?? fragment.startTicks) - fragment.startTicks;
    if (overlapTicks > fragment.durationTicks / 2) return false;
    this.newestTicks = fragment.startTicks;
    this.endTicks = fragment.startTicks + fragment.durationTicks;
    return true;
  }

  /** How far audio lags video that lasts from `startMs` to `endMs` (source time), ms. */
  lagMs(startMs: number, endMs: number): number {
    return endMs - (this.endTicks === null ? startMs : (this.endTicks * 1000) / AUDIO_SAMPLE_RATE);
  }

  /**
   * Returns silence for the missing audio up to `endMs`. The last fragment starts at `endMs` or later,
   * so that a segment that ends there is complete.
   * @throws Error when more is missing than the segmenter accepts: hours of silence, generated at once,
   *   would stop the process
   */
  fill(startMs: number, endMs: number): Fragment[] {
    if (this.lagMs(startMs, endMs) > TRACK_SILENCE_MS_MAX)
      throw new Error(`the audio is more than ${TRACK_SILENCE_MS_MAX / 1_000} s behind the video`);
    const fragments: Fragment[] = [];
    const pastTicks = ticksOf(endMs);
    // Not always one: a silent fragment is longer than a video fragment at most frame rates. With one for each, silence
    // was 10 s ahead after 148 s, and the encoder was restarted.
    while (this.newestTicks < pastTicks) {
      const fragment = silentFragment(this.endTicks ?? ticksOf(startMs), this.fragmentMs);
      this.newestTicks = fragment.startTicks;
      this.endTicks = fragment.startTicks + fragment.durationTicks;
      fragments.push(fragment);
    }
    return fragments;
  }
}

function ticksOf(ms: number): number {
  return Math.round((ms * AUDIO_SAMPLE_RATE) / 1000);
}
