import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FOLDERS = [
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib64',
  '/usr/lib',
];
const LIBRARY = 'faketime/libfaketimeMT.so.1';

/** The system clock that one process sees, which a test steps while it runs (libfaketime). */
export interface FalseClock {
  /** Variables with which the process starts. */
  readonly env: Record<string, string>;
  /** From now on it is this much off; its monotonic clock runs on as it is. */
  step(offsetMs: number): void;
  remove(): void;
}

/** Why no process here can be given a false clock; null: it can. */
export function noFalseClockReason(): string | null {
  return library()
    ? null
    : `${LIBRARY} is not there; on Debian and Ubuntu: apt-get install libfaketime`;
}

export function makeFalseClock(): FalseClock {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-clock-'));
  const madeMs = Date.now();
  const file = join(directory, 'offset');
  const step = (offsetMs: number) => {
    writeFileSync(file, `${offsetMs < 0 ? '' : '+'}${offsetMs / 1_000}`);
  };
  step(0);
  return {
    env: {
      LD_PRELOAD: library() ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    step,
    remove: () => {
      rmSync(directory, { recursive: true, force: true });
      removeShared(madeMs);
    },
  };
}

const SHARED = '/dev/shm';

// The library shares memory with the children of a process, and a process that is killed leaves it.
function removeShared(sinceMs: number): void {
  for (const name of existsSync(SHARED) ? readdirSync(SHARED) : []) {
    const pid = /^(?:sem\.)?faketime_(?:shm|sem)_(\d+)$/.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    const path = join(SHARED, name);
    const madeMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (madeMs >= sinceMs) rmSync(path, { force: true });
  }
}

function library(): string | undefined {
  return FOLDERS.map((folder) => join(folder, LIBRARY)).find((path) => existsSync(path));
}
