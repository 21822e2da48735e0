import { writeSync } from 'node:fs';

const STANDARD_OUTPUT = 1;

/** Reads the task of a load program from the file that its first argument names. */
export function readTask<T>(): Promise<T> {
  return Bun.file(process.argv[2] ?? '').json();
}

/** Reports an event with a value to the parent process. Synchronous, because the thread may block afterwards. */
export function report(event: string, value: unknown = null): void {
  writeSync(STANDARD_OUTPUT, `${event} ${JSON.stringify(value)}\n`);
}
