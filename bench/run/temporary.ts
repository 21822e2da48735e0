import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for what a bench needs while it runs. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

const folders = new Set<string>();
let endIsAwaited = false;

/** It goes with the process at the latest. @param purpose is in its name */
export function temporaryFolder(purpose: string): TemporaryFolder {
  // Not when this file is read: programs that write there end first, by a listener that came before.
  if (!endIsAwaited) process.once('exit', removeAll);
  endIsAwaited = true;
  const path = mkdtempSync(join(tmpdir(), `fourbeat-${purpose}-`));
  folders.add(path);
  return {
    path,
    remove: () => {
      rmSync(path, { recursive: true, force: true });
      folders.delete(path);
    },
  };
}

function removeAll(): void {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
}
