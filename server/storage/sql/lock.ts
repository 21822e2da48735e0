import { Database } from 'bun:sqlite';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Held for as long as a server runs on a data directory. */
export interface DirectoryLock {
  release(): void;
}

// A connection that nobody refers to is closed by the garbage collector, and its lock goes with it.
const held = new Set<Database>();

/**
 * Takes the data directory for this process. The lock is the operating system's (through an
 * exclusive SQLite transaction), so it is gone the moment the process is, however it ends.
 * @throws Error that says who holds it when another process does, or why it cannot be written.
 */
export function lockDirectory(directory: string): DirectoryLock {
  const holderFile = join(directory, 'server.pid');
  const database = openLockFile(directory);
  try {
    database.run('pragma busy_timeout = 0');
    database.run('begin exclusive');
    writeFileSync(holderFile, `${process.pid}\n`);
  } catch (error) {
    database.close();
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) {
      throw new Error(`${directory} is in use by another Fourbeat server${holder(holderFile)}`);
    }
    throw unwritable(directory, error);
  }
  held.add(database);
  return {
    release() {
      held.delete(database);
      database.run('rollback');
      database.close();
    },
  };
}

function openLockFile(directory: string): Database {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return new Database(join(directory, 'server.lock'));
  } catch (error) {
    throw unwritable(directory, error);
  }
}

function unwritable(directory: string, error: unknown): Error {
  return new Error(
    `${directory} cannot be written: ${error instanceof Error ? error.message : error}`,
  );
}

function holder(file: string): string {
  try {
    return ` (process ${readFileSync(file, 'utf8').trim()})`;
  } catch {
    return '';
  }
}
