import { runtime } from './runtime.ts';

// When the database stalls or its disk is full, every write fails. Logging each would cost more than handling it.
const INTERVAL_MS = 1_000;

interface KeyState {
  loggedMs: number;
  /** Events since then that were not logged. */
  suppressed: number;
}

/** Limits repeated log lines to one a second for each key (O-13). Keys are constants of the program. */
export class LogLimiter<Key> {
  private readonly states = new Map<Key, KeyState>();

  /** @param nowMs monotonic clock in ms */
  constructor(private readonly nowMs: () => number = () => runtime.monotonicMs()) {}

  /** Counts events. @returns the number to log now; 0: log nothing */
  countToLog(key: Key, count = 1): number {
    const nowMs = this.nowMs();
    const last = this.states.get(key);
    if (last && nowMs - last.loggedMs < INTERVAL_MS) {
      last.suppressed += count;
      return 0;
    }
    this.states.set(key, { loggedMs: nowMs, suppressed: 0 });
    return (last?.suppressed ?? 0) + count;
  }
}
