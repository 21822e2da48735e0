import { type Disk, localDisk } from '../../../server/media/store/disk.ts';

/** The local disk, with writes that fail or hang and files that cannot be read on demand; a rename takes no space. */
export class FaultyDisk implements Disk {
  /** Error code of all writes; null: writes succeed. */
  failure: string | null = null;
  /** Number of attempted writes. */
  writes = 0;
  private hanging: PromiseWithResolvers<void> | null = null;

  /** The error code of reads of some files and folders. */
  unreadable: { readonly path: RegExp; readonly code: string } | null = null;

  readonly rename = localDisk.rename;
  readonly remove = localDisk.remove;
  readonly removeEmptyFolder = localDisk.removeEmptyFolder;
  readonly freeBytes = localDisk.freeBytes;
  readonly slice = localDisk.slice;

  readonly read: Disk['read'] = async (path, bytesMax) => {
    this.checkReadable(path);
    return localDisk.read(path, bytesMax);
  };

  readonly list: Disk['list'] = async (directory) => {
    this.checkReadable(directory);
    return localDisk.list(directory);
  };

  private checkReadable(path: string): void {
    if (!this.unreadable?.path.test(path)) return;
    const { code } = this.unreadable;
    throw Object.assign(new Error(`${code}: read`), { code });
  }

  /** Makes writes hang until `resume`. */
  hang(): void {
    this.hanging = Promise.withResolvers();
  }

  resume(): void {
    this.hanging?.resolve();
    this.hanging = null;
  }

  async write(path: string, chunks: readonly Uint8Array[]): Promise<void> {
    this.writes++;
    await this.hanging?.promise;
    if (this.failure !== null) {
      throw Object.assign(new Error(`${this.failure}: write`), { code: this.failure });
    }
    await localDisk.write(path, chunks);
  }
}
