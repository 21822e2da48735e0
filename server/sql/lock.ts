import { Database } from 'bun:sqlite';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Held for as long as a server runs on a data directory. */
export interface DirectoryLock {
  release(): void;
}

/**
 * Takes the data directory for this process. The lock is the operating system's (through an
 * exclusive SQLite transaction), so it is gone the moment the process is, however it ends.
 * @throws Error that says who holds it when another process does.
 */
export function lockDirectory(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const holderFile = join(directory, 'server.pid');
  const database = new Database(join(directory, 'server.lock'));
  try {
    database.run('pragma busy_timeout = 0');
    database.run('begin exclusive');
  } catch {
    database.close();
    throw new Error(`${directory} is in use by another Fourbeat server${holder(holderFile)}`);
  }
  writeFileSync(holderFile, `${process.pid}\n`);
  return {
    release() {
      database.run('rollback');
      database.close();
    },
  };
}

function holder(file: string): string {
  try {
    return ` (process ${readFileSync(file, 'utf8').trim()})`;
  } catch {
    return '';
  }
}
