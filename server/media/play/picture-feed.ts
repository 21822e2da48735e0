import { beeps, SAMPLE_RATE } from './beep.ts';
import { nextSlot } from './frame-slots.ts';
import { rawCluster, rawHeader } from './raw-matroska.ts';
import type { TestPicture } from './test-picture.ts';

/** A test picture that runs. */
export interface PictureFeed {
  readonly picture: Pick<TestPicture, 'draw'>;
  readonly width: number;
  readonly height: number;
  readonly frameRate: number;
  /** Service time, Unix ms, with fractions. */
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /**
   * Hands pieces to the encoder.
   * @returns fulfilled when it has taken all of them, so that they may change; false when it takes
   *   no more
   */
  readonly write: (pieces: readonly Uint8Array[]) => Promise<boolean>;
  readonly isOver: () => boolean;
  /** After each frame. @param skipped frames that were left out before it */
  readonly onFrame: (skipped: number) => void;
}

// Sound is this far ahead of the picture: an encoder holds back some, and a muxer waits for it.
const SOUND_LEAD_MS = 80;
// After a longer pause the sound begins anew.
const SOUND_GAP_MS = 1_000;
// A wait is no longer, so that a clock that was far ahead, or an end, is noticed.
const WAIT_MS = 500;

/**
 * Draws frame after frame on the service's clock, until it is over or nobody takes any more. While
 * the encoder is busy no frame waits: those whose time passes are left out.
 */
export async function feedPicture(feed: PictureFeed): Promise<void> {
  const { width, height, frameRate, nowMs, isOver } = feed;
  if (!(await feed.write([rawHeader({ width, height, frameRate, sampleRate: SAMPLE_RATE })])))
    return;
  let last: number | null = null;
  let beginMs: number | null = null;
  let soundMs = 0;
  while (!isOver()) {
    const { slot, slotMs, waitMs, skipped } = nextSlot(last, nowMs(), frameRate);
    if (waitMs > 0) {
      await feed.sleep(Math.min(waitMs, WAIT_MS));
      continue;
    }
    beginMs ??= slotMs;
    last = slot;
    if (slotMs - soundMs > SOUND_GAP_MS) soundMs = slotMs;
    const untilMs = Math.round(((slot + 1) * 1_000) / frameRate) + SOUND_LEAD_MS;
    const sound = beeps(soundMs, untilMs);
    const picture = feed.picture.draw(slotMs);
    const pieces = rawCluster(slotMs - beginMs, picture, soundMs - beginMs, sound);
    soundMs = untilMs;
    if (!(await feed.write(pieces))) return;
    feed.onFrame(skipped);
  }
}
