/** A frame to draw. Slots are numbered from the Unix epoch at the frame rate. */
export interface FrameSlot {
  readonly slot: number;
  /** Service time that the frame shows, whole Unix ms. */
  readonly slotMs: number;
  /** Time until the frame is due; 0 when it is due now. */
  readonly waitMs: number;
  /** Frames dropped before this one because their time has passed. */
  readonly dropped: number;
}

/**
 * Chooses the next frame, such that no frame is delivered more than half a frame duration after the
 * time that it shows (SPEC M-45).
 * @param lastSlot slot of the previous frame; null before the first
 * @param nowMs service time
 */
export function nextSlot(lastSlot: number | null, nowMs: number, frameRate: number): FrameSlot {
  const frameMs = 1_000 / frameRate;
  const nearest = Math.ceil(nowMs / frameMs - 0.5);
  const slot = lastSlot === null ? nearest : Math.max(lastSlot + 1, nearest);
  const slotMs = Math.round(slot * frameMs);
  return {
    slot,
    slotMs,
    waitMs: Math.max(0, slotMs - nowMs),
    dropped: lastSlot === null ? 0 : slot - lastSlot - 1,
  };
}
