/** A frame to draw: frame `slot` of all time shows the moment `slotMs`. */
export interface FrameSlot {
  readonly slot: number;
  /** Service time that it shows, whole Unix ms. */
  readonly slotMs: number;
  /** How long until then; 0 when it is due. */
  readonly waitMs: number;
  /** Frames that were left out before it, because their time had passed. */
  readonly skipped: number;
}

/**
 * The frame to draw next, so that none is handed over more than half a frame after the moment that
 * it shows (SPEC M-45).
 * @param lastSlot the slot of the frame before; null for the first frame
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
    skipped: lastSlot === null ? 0 : slot - lastSlot - 1,
  };
}
