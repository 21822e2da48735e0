import { type Disk, localDisk } from '../../../server/media/store/disk.ts';

/** The local disk, with writes that fail or hang on demand; a rename takes no space. */
export class FaultyDisk implements Disk {
  /** Error code of all writes; null: writes succeed. */
  failure: string | null = null;
  /** Number of attempted writes. */
  writes = 0;
  private hanging: PromiseWithResolvers<void> | null = null;

  readonly read = localDisk.read;
  readonly rename = localDisk.rename;
  readonly list = localDisk.list;
  readonly remove = localDisk.remove;
  readonly removeEmptyFolder = localDisk.removeEmptyFolder;
  readonly freeBytes = localDisk.freeBytes;
  readonly slice = localDisk.slice;

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
