import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for what a bench needs while it runs. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

const folders = new Set<string>();
process.on('exit', () => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});

/** @param purpose is in its name */
export function temporaryFolder(purpose: string): TemporaryFolder {
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
