import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for temporary files of a benchmark. */
interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

const folders = new Set<string>();
let isExitHandled = false;

/** Creates a folder; removed when the process exits at the latest. @param purpose part of its name */
export function temporaryFolder(purpose: string): TemporaryFolder {
  // Registered late, so that the exit listener that ends programs runs before this one.
  if (!isExitHandled) process.once('exit', removeAll);
  isExitHandled = true;
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
