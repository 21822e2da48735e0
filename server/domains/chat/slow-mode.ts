/**
 * When viewers of slowed chats wrote last: whoever wrote waits for their turn, on whatever node they
 * write next. It is transient, as their lines are (C-11): what forgets it lets a line through too early.
 */
export interface SlowMode {
  /**
   * Takes the turn of a viewer to write a line.
   * @returns 0, or how many ms it is until their turn; then nothing was taken
   * @throws Unavailable
   */
  take(turn: LineTurn): number | Promise<number>;
}

/** A viewer who is to write a line. */
export interface LineTurn {
  readonly streamId: string;
  readonly seat: number;
  /** From one line to the next. */
  readonly everyMs: number;
  /** Service time. */
  readonly nowMs: number;
}
