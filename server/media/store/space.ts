import { endMsOf } from './stored-names.ts';
import type { StreamFolder } from './stream-folder.ts';

/** The newest of a live stream, which is never removed to make room: who watches it needs it. */
export const LIVE_WINDOW_MS = 30_000;

// A stream is live until so long after its last segment.
const LIVE_MS = 60_000;

// Another process may take what was made free before we can: then the disk is full.
const TRIES = 4;

// An epoch's file, and what is remembered of a stream, are smaller.
const SMALL_BYTES = 16 << 10;

export interface SpaceOptions {
  /** All segments together take no more. */
  readonly spaceBytes: number;
  /** So much of the file system is left to others. */
  readonly minFreeBytes: number;
  readonly folders: () => Iterable<StreamFolder>;
  /** Told of each segment that was removed to make room. */
  readonly onEvict: (folder: StreamFolder) => void;
  readonly nowMs: () => number;
}

/** There is no room, and nothing that may be removed to make some. */
export class NoRoom extends Error {
  readonly code = 'ENOSPC';
}

/** The room on disk that all streams share. The oldest goes first. */
export class Space {
  /** Segments that were removed to make room. */
  evicted = 0;
  /** What was free, and what segments took, when it was last measured; null: not known. */
  private measure: { readonly freeBytes: number; readonly bytes: number } | null = null;

  constructor(private readonly options: SpaceOptions) {}

  /** All segments on disk. */
  bytes(): number {
    let bytes = 0;
    for (const folder of this.options.folders()) bytes += folder.bytes;
    return bytes;
  }

  isLive(folder: StreamFolder): boolean {
    const { lastAddMs, state } = folder;
    if (lastAddMs === null || state.endedMs !== null) return false;
    return this.options.nowMs() - lastAddMs < LIVE_MS;
  }

  /** Notes what is free in the file system, and makes room when it is too little. */
  async measured(freeBytes: number | null): Promise<void> {
    this.measure = freeBytes === null ? null : { freeBytes, bytes: this.bytes() };
    await this.makeRoom(0);
  }

  /**
   * Writes a segment, with room for it.
   * @param bytes that it takes on disk
   * @throws what the disk says; `NoRoom` when nothing may be removed
   */
  async spend(bytes: number, write: () => Promise<void>): Promise<void> {
    if (!(await this.makeRoom(bytes))) throw new NoRoom('no room is left for video');
    // Room is made for two, so that it lasts.
    await this.attempt(2 * bytes, write);
  }

  /** Writes something small, which is not counted. @throws what the disk says */
  async writeSmall(write: () => Promise<void>): Promise<void> {
    await this.attempt(SMALL_BYTES, write);
  }

  /** Writes; on a disk that is full, again, when so much could be removed. */
  private async attempt(bytes: number, write: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await write();
        return;
      } catch (error) {
        if (tries === TRIES || !isFull(error) || (await this.evict(bytes)) === 0) throw error;
      }
    }
  }

  /** @returns whether so many bytes may be written */
  private async makeRoom(bytes: number): Promise<boolean> {
    const missing = this.missing(bytes);
    if (missing > 0) await this.evict(missing);
    return this.missing(bytes) <= 0;
  }

  private missing(bytes: number): number {
    const { spaceBytes, minFreeBytes } = this.options;
    const after = this.bytes() + bytes;
    const { measure } = this;
    const free = measure ? measure.freeBytes - (after - measure.bytes) : minFreeBytes;
    return Math.max(after - spaceBytes, minFreeBytes - free);
  }

  /** Removes the oldest segments. @returns what became free, bytes */
  private async evict(bytes: number): Promise<number> {
    let freed = 0;
    while (freed < bytes) {
      const victim = this.victim();
      if (!victim) break;
      freed += await victim.removeOldest();
      this.evicted++;
      this.options.onEvict(victim);
    }
    return freed;
  }

  /** Whose segment is the oldest: of streams that are not live before those that are. */
  private victim(): StreamFolder | null {
    let found: StreamFolder | null = null;
    let foundMs = Number.POSITIVE_INFINITY;
    let foundLive = true;
    for (const folder of this.options.folders()) {
      const [oldest] = folder.files;
      if (!oldest) continue;
      const isLive = this.isLive(folder);
      if (isLive && endMsOf(oldest) > (folder.endMs ?? 0) - LIVE_WINDOW_MS) continue;
      if (isLive && !foundLive) continue;
      if (oldest.startMs >= foundMs && (isLive || !foundLive)) continue;
      [found, foundMs, foundLive] = [folder, oldest.startMs, isLive];
    }
    return found;
  }
}

/** Whether removing something would help. */
function isFull(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === 'ENOSPC' || code === 'EDQUOT';
}
