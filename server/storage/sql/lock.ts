import { Database } from 'bun:sqlite';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../platform/errors.ts';

export interface DirectoryLock {
  release(): void;
}

// Keeps the connections referenced: the garbage collector would close them and release the locks.
const lockConnections = new Set<Database>();

/**
 * Locks the data directory for this process. The lock is an exclusive SQLite transaction, so the
 * operating system releases it when the process ends, however it ends.
 * @throws Error that names the process that holds the lock, or why the directory cannot be written
 */
export function lockDirectory(directory: string): DirectoryLock {
  const holderFile = join(directory, 'server.pid');
  const database = openLockFile(directory);
  try {
    database.run('pragma busy_timeout = 0');
    database.run('begin exclusive');
    writeHolder(holderFile);
  } catch (error) {
    database.close();
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) {
      const holder = holderSuffix(holderFile);
      throw new Error(`${directory} is in use by another Fourbeat server${holder}`);
    }
    throw notWritableError(directory, error);
  }
  lockConnections.add(database);
  return {
    release() {
      lockConnections.delete(database);
      database.run('rollback');
      database.close();
    },
  };
}

const URL_FILE = 'server.url';

/** Records the URL of the server that holds the lock of the directory, for commands. */
export function writeServerUrl(directory: string, url: string): void {
  writeFileSync(join(directory, URL_FILE), `${process.pid} ${url}\n`);
}

/** The URL of the server that runs on the directory; null when none runs. */
export function readServerUrl(directory: string): string | null {
  try {
    const [pid, url] = readFileSync(join(directory, URL_FILE), 'utf8').trim().split(' ');
    return url && isRunning(Number(pid)) ? url : null;
  } catch {
    return null;
  }
}

function isRunning(pid: number): boolean {
  try {
    // Signal 0 only checks that the process exists.
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM';
  }
}

function openLockFile(directory: string): Database {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return new Database(join(directory, 'server.lock'));
  } catch (error) {
    throw notWritableError(directory, error);
  }
}

function notWritableError(directory: string, error: unknown): Error {
  return new Error(`${directory} cannot be written: ${messageOf(error)}`);
}

function holderSuffix(file: string): string {
  try {
    return ` (process ${readFileSync(file, 'utf8').trim()})`;
  } catch {
    return '';
  }
}

/** Stores the process ID, which another process shows in its error. On a full disk the service starts without it. */
function writeHolder(file: string): void {
  try {
    writeFileSync(file, `${process.pid}\n`);
  } catch {
    // The file is only a hint.
  }
}
