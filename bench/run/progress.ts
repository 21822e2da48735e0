import { createLogUpdate } from 'log-update';

/** Shows the progress of a benchmark. */
export interface Progress {
  /** @param leftMs estimated remaining time of the benchmark, if known */
  show(line: string, leftMs?: number): void;
  /** Removes the progress line before other output. */
  clear(): void;
}

/**
 * Writes to standard error, so that results can be redirected: on a terminal one line that is updated,
 * elsewhere one line per message.
 */
export function createProgress(isTerminal: boolean): Progress {
  if (!isTerminal) return { show: (line) => console.error(line), clear: () => {} };
  const logUpdate = createLogUpdate(process.stderr);
  return {
    show: (line, leftMs) => logUpdate(leftMs === undefined ? line : `${line} · ${timeOf(leftMs)}`),
    clear: () => logUpdate.clear(),
  };
}

const MINUTE_MS = 60_000;
const STEP_S = 5;

/** A rounded estimate as text. */
export function timeOf(leftMs: number): string {
  if (leftMs > 1.5 * MINUTE_MS) return `about ${Math.round(leftMs / MINUTE_MS)} minutes left`;
  const seconds = Math.ceil(leftMs / 1_000 / STEP_S) * STEP_S;
  return seconds === 0 ? 'nearly there' : `about ${seconds} s left`;
}
