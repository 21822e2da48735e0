import { type Disk, localDisk } from '../../../server/media/store/disk.ts';

/** A disk that does what a test says, and otherwise what disks do. */
export class FaultyDisk implements Disk {
  /** What each write fails with; null: it works. */
  failure: string | null = null;
  /** How many writes were tried. */
  writes = 0;
  private hanging: PromiseWithResolvers<void> | null = null;

  readonly read = localDisk.read;
  readonly names = localDisk.names;
  readonly remove = localDisk.remove;
  readonly removeFolder = localDisk.removeFolder;
  readonly freeBytes = localDisk.freeBytes;
  readonly slice = localDisk.slice;

  /** From now on writes wait, until `goOn`. */
  hang(): void {
    this.hanging = Promise.withResolvers();
  }

  goOn(): void {
    this.hanging?.resolve();
    this.hanging = null;
  }

  async write(path: string, parts: readonly Uint8Array[]): Promise<void> {
    this.writes++;
    await this.hanging?.promise;
    if (this.failure !== null) {
      throw Object.assign(new Error(`${this.failure}: write`), { code: this.failure });
    }
    await localDisk.write(path, parts);
  }
}
