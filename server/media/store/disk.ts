import { mkdir, open, readdir, rename, rm, rmdir, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UNFINISHED } from './stored-names.ts';

/** What shelves ask of a file system. Failures are those of the system, with its `code`. */
export interface Disk {
  /** Writes a file, whole or not at all, and the folder it is in. */
  write(path: string, parts: readonly Uint8Array[]): Promise<void>;
  /** @returns null when there is no such file */
  read(path: string, bytesMax: number): Promise<Tail | null>;
  /** The names in a folder; none when there is no such folder. */
  names(directory: string): Promise<string[]>;
  /** Removes a file, if it is there. */
  remove(path: string): Promise<void>;
  /** Removes a folder, if it is there and empty. */
  removeFolder(path: string): Promise<void>;
  /** What is free in the file system of a folder, for others than root; null without the folder. */
  freeBytes(directory: string): Promise<number | null>;
  /** Bytes of a file, read when they are wanted. */
  slice(path: string, from: number, to: number): Blob;
}

/** The end of a file. */
export interface Tail {
  readonly bytes: Uint8Array;
  /** Of the whole file. */
  readonly fileBytes: number;
}

/** The file system of this machine. */
export const localDisk: Disk = {
  async write(path, parts) {
    const unfinished = `${path}${UNFINISHED}`;
    try {
      await writeParts(unfinished, parts);
      // What has its name is whole: `rename` is atomic. Nothing is synced: a loss of power may cost
      // the newest files, and what is broken then is found by its end.
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {});
      throw error;
    }
  },

  async read(path, bytesMax) {
    const file = await opened(path, 'r');
    if (!file) return null;
    try {
      const { size } = await file.stat();
      const bytes = new Uint8Array(Math.min(size, bytesMax));
      const { bytesRead } = await file.read(bytes, 0, bytes.length, size - bytes.length);
      return { bytes: bytes.subarray(0, bytesRead), fileBytes: size };
    } finally {
      await file.close();
    }
  },

  async names(directory) {
    try {
      return await readdir(directory);
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  },

  remove: (path) => rm(path, { force: true }),

  async removeFolder(path) {
    try {
      await rmdir(path);
    } catch (error) {
      // Somebody keeps files of their own in it.
      if (!isMissing(error) && (error as { code?: string }).code !== 'ENOTEMPTY') throw error;
    }
  },

  async freeBytes(directory) {
    try {
      const { bavail, bsize } = await statfs(directory);
      return bavail * bsize;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  },

  slice: (path, from, to) => Bun.file(path).slice(from, to),
};

async function writeParts(path: string, parts: readonly Uint8Array[]): Promise<void> {
  let file = await opened(path, 'w');
  if (!file) {
    await mkdir(dirname(path), { recursive: true });
    file = await open(path, 'w');
  }
  try {
    for (const part of parts) {
      for (let from = 0; from < part.byteLength; ) {
        from += (await file.write(part, from, part.byteLength - from)).bytesWritten;
      }
    }
  } finally {
    await file.close();
  }
}

/** @returns null when the file, or the folder for it, is not there */
async function opened(path: string, how: 'r' | 'w') {
  try {
    return await open(path, how);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as { code?: string }).code === 'ENOENT';
}
