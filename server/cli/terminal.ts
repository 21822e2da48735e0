/** What a command prints to, and the environment it was started in. */
export interface Terminal {
  /** One line, or a page, of the program's output. */
  print(text: string): void;
  /** One line for the person who started it. */
  complain(text: string): void;
  readonly env: NodeJS.ProcessEnv;
}

/** A text on one line, without characters that would move a terminal's cursor. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}
