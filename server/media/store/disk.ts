import { mkdir, open, readdir, rename, rm, rmdir, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UNFINISHED_SUFFIX } from './file-names.ts';

/** The file system operations of a segment store. Errors are system errors with a `code`. */
export interface Disk {
  /** Writes a file atomically. Creates its folder. */
  write(path: string, chunks: readonly Uint8Array[]): Promise<void>;
  /** Reads the last bytes of a file. @returns null when there is no such file */
  read(path: string, bytesMax: number): Promise<FileTail | null>;
  /** Renames a file atomically, which takes no space. */
  rename(from: string, to: string): Promise<void>;
  /** The names in a folder; empty when there is no such folder. */
  list(directory: string): Promise<string[]>;
  /** Removes a file, if it exists. */
  remove(path: string): Promise<void>;
  /** Removes a folder, if it exists and is empty. */
  removeEmptyFolder(path: string): Promise<void>;
  /** Free bytes for unprivileged users in the file system of a folder; null without the folder. */
  freeBytes(directory: string): Promise<number | null>;
  /** A lazily read byte range of a file. */
  slice(path: string, from: number, to: number): Blob;
}

export interface FileTail {
  readonly bytes: Uint8Array;
  /** Size of the whole file. */
  readonly fileBytes: number;
}

export const localDisk: Disk = {
  async write(path, parts) {
    const temporaryPath = `${path}${UNFINISHED_SUFFIX}`;
    try {
      await writeParts(temporaryPath, parts);
      // `rename` is atomic, so a file with its final name is complete. Nothing is synced: after a loss
      // of power the newest files may be broken, which their trailer reveals.
      await rename(temporaryPath, path);
    } catch (error) {
      await rm(temporaryPath, { force: true }).catch(() => {});
      throw error;
    }
  },

  async read(path, bytesMax) {
    const file = await nullIfMissing(open(path, 'r'));
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

  rename,

  list: async (directory) => (await nullIfMissing(readdir(directory))) ?? [],

  remove: (path) => rm(path, { force: true }),

  async removeEmptyFolder(path) {
    try {
      await nullIfMissing(rmdir(path));
    } catch (error) {
      // The folder stays if it contains files of others.
      if ((error as { code?: string }).code !== 'ENOTEMPTY') throw error;
    }
  },

  async freeBytes(directory) {
    const stats = await nullIfMissing(statfs(directory));
    return stats && stats.bavail * stats.bsize;
  },

  slice: (path, from, to) => Bun.file(path).slice(from, to),
};

async function writeParts(path: string, parts: readonly Uint8Array[]): Promise<void> {
  let file = await nullIfMissing(open(path, 'w'));
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

/** The result of an operation; null when its file or folder does not exist. */
async function nullIfMissing<T>(operation: Promise<T>): Promise<T | null> {
  try {
    return await operation;
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null;
    throw error;
  }
}
