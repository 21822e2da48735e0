import { createLogUpdate } from 'log-update';

/** Says what is going on, to whoever waits for it. */
export interface Progress {
  /** @param leftMs how long this measurement is going to take, where that is known */
  say(line: string, leftMs?: number): void;
  /** Takes away what it said, before something is printed. */
  clear(): void;
}

/**
 * On standard error, so that results can go to a file: on a terminal one line that changes; elsewhere,
 * such as in a log, a line each.
 */
export function createProgress(isTerminal: boolean): Progress {
  if (!isTerminal) return { say: (line) => console.error(line), clear: () => {} };
  const logUpdate = createLogUpdate(process.stderr);
  return {
    say: (line, leftMs) => logUpdate(leftMs === undefined ? line : `${line} · ${timeOf(leftMs)}`),
    clear: () => logUpdate.clear(),
  };
}

const MINUTE_MS = 60_000;
const STEP_S = 5;

/** Nobody counts single seconds of an estimate. */
export function timeOf(leftMs: number): string {
  if (leftMs > 1.5 * MINUTE_MS) return `about ${Math.round(leftMs / MINUTE_MS)} minutes left`;
  const seconds = Math.ceil(leftMs / 1_000 / STEP_S) * STEP_S;
  return seconds === 0 ? 'nearly there' : `about ${seconds} s left`;
}
