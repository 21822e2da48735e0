import type { Fragment, InitSegment } from '../fmp4/fragment.ts';
import type { AudioTrack, TrackId } from '../segment.ts';
import { AUDIO_SAMPLE_RATE } from './ffmpeg-arguments.ts';
import { silentFragment } from './silence.ts';

// The encoder keeps to its rate over seconds, not over each.
const AUDIO_BITS_PER_S_MAX = 160_000;
// The boxes of a fragment, which has a frame of 21 ms at least.
const FRAGMENT_BITS = 1_150;
const FRAGMENT_MS_MIN = 21;

/** The sound of a stream. */
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
 * Keeps sound beside the picture where a source has none, for a while or at all: every segment has
 * the same tracks. Silence is made here, because a silent input would keep ffmpeg running after
 * the end of the source, and could not stand in for a microphone that is turned off.
 */
export class AudioGapFiller {
  /** Source time up to which there is sound, in samples; null before the first. */
  private endTicks: number | null = null;

  /** @param fragmentMs how long fragments of silence are */
  constructor(private readonly fragmentMs: number) {}

  /** @returns whether this sound is wanted: not when silence has taken its place already */
  accept(fragment: Fragment): boolean {
    const overlapTicks = (this.endTicks ?? fragment.startTicks) - fragment.startTicks;
    if (overlapTicks > fragment.durationTicks / 2) return false;
    this.endTicks = fragment.startTicks + fragment.durationTicks;
    return true;
  }

  /** How far sound is behind the picture, ms. @param startMs of the first picture */
  lagMs(startMs: number, endMs: number): number {
    return endMs - (this.endTicks === null ? startMs : (this.endTicks * 1000) / AUDIO_SAMPLE_RATE);
  }

  /**
   * Silence for what is missing, from the first picture to here. The last fragment begins here or
   * later, so that a segment that ends here is known to be whole.
   */
  fill(startMs: number, endMs: number): Fragment[] {
    const fragments: Fragment[] = [];
    let startTicks = this.endTicks ?? ticksOf(startMs);
    let isPast = false;
    while (!isPast) {
      const fragment = silentFragment(startTicks, this.fragmentMs);
      isPast = startTicks >= ticksOf(endMs);
      startTicks += fragment.durationTicks;
      fragments.push(fragment);
    }
    this.endTicks = startTicks;
    return fragments;
  }
}

function ticksOf(ms: number): number {
  return Math.round((ms * AUDIO_SAMPLE_RATE) / 1000);
}
