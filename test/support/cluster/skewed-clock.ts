import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LIBRARY_FOLDERS = [
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib64',
  '/usr/lib',
];
const LIBRARY = 'faketime/libfaketimeMT.so.1';

/** The system clock of one process, which a test can step while the process runs (libfaketime). */
export interface SkewedClock {
  /** Environment variables for the process. */
  readonly env: Record<string, string>;
  /** Steps the clock to this offset; the monotonic clock of the process stays right. */
  setOffset(offsetMs: number): void;
  remove(): void;
}

/** Why this machine cannot skew the clock of a process; null when it can. */
export function skewedClockSkipReason(): string | null {
  return libraryPath()
    ? null
    : `${LIBRARY} is missing; on Debian and Ubuntu: apt-get install libfaketime`;
}

export function createSkewedClock(): SkewedClock {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-clock-'));
  const createdMs = Date.now();
  const file = join(directory, 'offset');
  const setOffset = (offsetMs: number) => {
    writeFileSync(file, `${offsetMs < 0 ? '' : '+'}${offsetMs / 1_000}`);
  };
  setOffset(0);
  return {
    env: {
      LD_PRELOAD: libraryPath() ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    setOffset,
    remove: () => {
      rmSync(directory, { recursive: true, force: true });
      removeSharedMemory(createdMs);
    },
  };
}

const SHARED_MEMORY_FOLDER = '/dev/shm';

// The library shares memory with child processes, and a process that is killed does not remove it.
function removeSharedMemory(sinceMs: number): void {
  for (const name of existsSync(SHARED_MEMORY_FOLDER) ? readdirSync(SHARED_MEMORY_FOLDER) : []) {
    const pid = /^(?:sem\.)?faketime_(?:shm|sem)_(\d+)$/.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    const path = join(SHARED_MEMORY_FOLDER, name);
    const createdMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (createdMs >= sinceMs) rmSync(path, { force: true });
  }
}

function libraryPath(): string | undefined {
  return LIBRARY_FOLDERS.map((folder) => join(folder, LIBRARY)).find((path) => existsSync(path));
}
