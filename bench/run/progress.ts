import logUpdate from 'log-update';

/** Says what is going on, to whoever waits for it. */
export interface Progress {
  say(line: string): void;
  /** Takes away what it said, before something is printed. */
  clear(): void;
}

/** On a terminal one line that changes; elsewhere, such as in a log, a line each. */
export function createProgress(isTerminal: boolean): Progress {
  if (isTerminal) return { say: (line) => logUpdate(line), clear: () => logUpdate.clear() };
  return { say: (line) => console.error(line), clear: () => {} };
}
