/** Output and environment of a command. */
export interface Terminal {
  /** Prints to standard output. */
  print(text: string): void;
  /** Prints a line to standard error. */
  printError(text: string): void;
  readonly env: NodeJS.ProcessEnv;
}

/** Joins a text to one line without control characters. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}
