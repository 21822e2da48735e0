/** How often the pulse is taken. */
export const TURN_MS = 25;
// Nothing heard for 75 ms while something waits: a statement may be slow, so ask a simple question.
const ASK_TURNS = 3;
// Nothing heard for 225 to 250 ms, not even the answer to that.
const UNAVAILABLE_TURNS = 10;
// An idle connection is asked each second, so that `/readyz` knows.
const IDLE_TURNS = 1_000 / TURN_MS;

/**
 * Whether PostgreSQL lives: anything that it says on any connection is a sign. It counts turns of
 * the event loop and not milliseconds: while this process itself is held up nothing can be heard,
 * and that is no sign of the other's death.
 */
export class Pulse {
  private heard = false;
  private silentTurns = 0;
  private idleTurns = 0;

  /** The server said something. */
  hear(): void {
    this.heard = true;
  }

  /** Takes the pulse, every `TURN_MS`. @param waits whether any answer is outstanding */
  turn(waits: boolean): 'fine' | 'ask' | 'away' {
    const isQuiet = !this.heard;
    this.heard = false;
    this.idleTurns = isQuiet && !waits ? this.idleTurns + 1 : 0;
    this.silentTurns = isQuiet && waits ? this.silentTurns + 1 : 0;
    if (this.silentTurns >= UNAVAILABLE_TURNS) return 'away';
    return this.silentTurns >= ASK_TURNS || this.idleTurns >= IDLE_TURNS ? 'ask' : 'fine';
  }
}
