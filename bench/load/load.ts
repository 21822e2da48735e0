import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LOAD_CORE, lineOf, startPinned } from '../run/pinned.ts';
import { temporaryFolder } from '../run/temporary.ts';

/** A program of this folder that is at work on the core of the load. */
export interface Load {
  /** What it says next with this word. @throws Error when it ends before */
  said<T = null>(word: string): Promise<T>;
  stop(): Promise<void>;
}

/** Starts one with its task. */
export function startLoad(file: string, task: unknown): Load {
  const folder = temporaryFolder('load');
  const path = join(folder.path, 'task.json');
  writeFileSync(path, JSON.stringify(task));
  const program = fileURLToPath(new URL(file, import.meta.url));
  const pinned = startPinned(LOAD_CORE, [process.execPath, program, path]);
  return {
    said: async (word) => {
      const [, said = ''] = await lineOf(pinned, new RegExp(`^${word} (.*)\n`, 'm'));
      return JSON.parse(said);
    },
    stop: async () => {
      await pinned.stop();
      folder.remove();
    },
  };
}
