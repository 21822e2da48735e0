import { writeSync } from 'node:fs';

const STANDARD_OUTPUT = 1;

/** What a program of the load was started with: the first of its arguments is a file of it. */
export function readTask<T>(): Promise<T> {
  return Bun.file(process.argv[2] ?? '').json();
}

/** Says a word, and what belongs to it, to who started it: at once, also when this thread has no time then. */
export function tell(word: string, value: unknown = null): void {
  writeSync(STANDARD_OUTPUT, `${word} ${JSON.stringify(value)}\n`);
}
