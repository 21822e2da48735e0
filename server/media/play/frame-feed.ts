import { beepSamples } from './beep.ts';
import { nextSlot } from './frame-slots.ts';
import { rawCluster, rawHeader } from './raw-matroska.ts';
import type { TestPicture } from './test-picture.ts';

/** A test picture and the encoder that receives its frames. */
export interface FrameFeedOptions {
  readonly picture: Pick<TestPicture, 'draw'>;
  readonly width: number;
  readonly height: number;
  readonly frameRate: number;
  /** Service time, Unix ms, with fractions. */
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /**
   * Writes buffers to the encoder.
   * @returns fulfilled when all are written, so that they may be reused; false when the encoder
   *   accepts no more
   */
  readonly write: (pieces: readonly Uint8Array[]) => Promise<boolean>;
  readonly isStopped: () => boolean;
  /** Called after each frame. @param dropped frames dropped before it */
  readonly onFrame: (dropped: number) => void;
}

// Audio is written this far ahead of video: the AAC encoder delays it and the muxer waits for it.
const AUDIO_LEAD_MS = 80;
// After a longer pause, audio restarts at the frame's time instead of filling the gap.
const MAX_AUDIO_GAP_MS = 1_000;
// Upper bound of one sleep, so that a clock correction or a stop takes effect.
const MAX_SLEEP_MS = 500;

/**
 * Draws frames by the service's clock until it is stopped or the encoder accepts no more. Frames do
 * not queue while the encoder is busy: those whose time passes are dropped.
 */
export async function feedFrames(feed: FrameFeedOptions): Promise<void> {
  const { width, height, frameRate, nowMs, isStopped } = feed;
  if (!(await feed.write([rawHeader(width, height, frameRate)]))) return;
  let lastSlot: number | null = null;
  let firstFrameMs: number | null = null;
  let audioMs = 0;
  while (!isStopped()) {
    const { slot, slotMs, waitMs, dropped } = nextSlot(lastSlot, nowMs(), frameRate);
    if (waitMs > 0) {
      await feed.sleep(Math.min(waitMs, MAX_SLEEP_MS));
      continue;
    }
    firstFrameMs ??= slotMs;
    lastSlot = slot;
    if (slotMs - audioMs > MAX_AUDIO_GAP_MS) audioMs = slotMs;
    const audioEndMs = Math.round(((slot + 1) * 1_000) / frameRate) + AUDIO_LEAD_MS;
    const audio = beepSamples(audioMs, audioEndMs);
    const frame = feed.picture.draw(slotMs);
    const pieces = rawCluster(slotMs - firstFrameMs, frame, audioMs - firstFrameMs, audio);
    audioMs = audioEndMs;
    if (!(await feed.write(pieces))) return;
    feed.onFrame(dropped);
  }
}
