import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOAD_CORE, startPinned, waitForOutput } from '../run/pinned.ts';
import { temporaryFolder } from '../run/temporary-folder.ts';

/** A program of this folder that runs on the core of the load. */
interface LoadProcess {
  /** Waits for an event of the program. @returns its value @throws Error when the program ends before */
  receive<T = null>(event: string): Promise<T>;
  stop(): Promise<void>;
}

export function startLoad(file: string, task: unknown): LoadProcess {
  const folder = temporaryFolder('load');
  const path = join(folder.path, 'task.json');
  writeFileSync(path, JSON.stringify(task));
  const program = fileURLToPath(new URL(file, import.meta.url));
  const pinned = startPinned(LOAD_CORE, [process.execPath, program, path]);
  return {
    receive: async (event) => {
      const [, value = ''] = await waitForOutput(pinned, new RegExp(`^${event} (.*)\n`, 'm'));
      return JSON.parse(value);
    },
    stop: async () => {
      await pinned.stop();
      folder.remove();
    },
  };
}
