/**
 * The last slot of each viewer in slowed chats, on all nodes. It is transient like messages (C-11): after a
 * loss a viewer may post too early.
 */
export interface SlowMode {
  /**
   * Takes the slot of a viewer to post a message.
   * @returns 0, or the ms until the viewer's next slot; then nothing is taken
   * @throws Unavailable
   */
  take(post: SlowModePost): number | Promise<number>;
}

/** A message that a viewer wants to post. */
export interface SlowModePost {
  readonly streamId: string;
  readonly seat: number;
  /** Minimum time between messages of a viewer. */
  readonly periodMs: number;
  /** Service time, Unix ms. */
  readonly nowMs: number;
}
