import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A text that occurs once in a file, and its replacement (default: none). */
export interface Removal {
  readonly file: string;
  readonly text: string;
  readonly replacement?: string;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED_PATHS = [
  ...['bin', 'crowd', 'demo', 'docs', 'player', 'protocol', 'sdk', 'server', 'studio', 'test'],
  ...['package.json', 'tsconfig.json'],
];

/** Runs `work` on a copy of the source with changes. @param work receives the folder of the copy */
export function withChangedCopy<T>(removals: readonly Removal[], work: (copy: string) => T): T {
  const copy = mkdtempSync(join(tmpdir(), 'fourbeat-guards-'));
  try {
    for (const path of COPIED_PATHS)
      cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    for (const { file: source, text, replacement = '' } of removals) {
      const path = join(copy, source);
      const code = readFileSync(path, 'utf8');
      writeFileSync(
        path,
        code.replace(text, () => replacement),
      );
    }
    return work(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
