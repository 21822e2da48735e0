import { endMsOf } from './file-names.ts';
import type { StreamFolder } from './stream-folder.ts';
import { UnreleasedSpace } from './unreleased-space.ts';

/** The newest segments of a live stream, ms: never evicted, because its viewers need them. */
export const PROTECTED_WINDOW_MS = 30_000;

// A stream counts as live until this long after its last segment.
const LIVE_TIMEOUT_MS = 60_000;

// Another process may use freed space first, so a full disk is retried.
const WRITE_ATTEMPTS_MAX = 4;

/**
 * Failed removals after which nothing is evicted for a minute: on a file system that removes no file, each attempt
 * loses a segment.
 */
const FAILED_REMOVALS_MAX = 3;
const REMOVAL_RETRY_MS = 60_000;
/** The longest pause for a stream whose files cannot be removed. */
const REMOVAL_RETRY_MS_MAX = 3_600_000;
// Files of epochs and stream states are smaller than this.
const UNCOUNTED_FILE_BYTES = 16 << 10;

export interface DiskQuotaOptions {
  /** Most disk space of all segments together. */
  readonly spaceBytes: number;
  /** Free space of the file system to leave to others. */
  readonly minFreeBytes: number;
  /** Measures the free space of the file system; null when it is unknown. */
  readonly freeBytes: () => Promise<number | null>;
  readonly folders: () => Iterable<StreamFolder>;
  /** Called after each eviction of a segment. */
  readonly onEvict: (folder: StreamFolder) => void;
  /** Called once when evicted segments have not freed their space in time. */
  readonly onUnreleased: (bytes: number) => void;
  readonly nowMs: () => number;
}

/** What others write is measured over at least this time. */
const OTHERS_MS = 500;

/** There is no disk space, and no segment may be evicted. */
export class NoSpaceError extends Error {
  readonly code = 'ENOSPC';
}

/** A stream that may be evicted from. */
interface Candidate {
  readonly folder: StreamFolder;
  /** Disk space of all streams of its account. */
  readonly accountBytes: number;
  readonly isLive: boolean;
  /** When its oldest segment starts, Unix ms. */
  readonly startMs: number;
}

/** The disk space that all streams share. Evicts segments to stay within it. */
export class DiskQuota {
  /** Segments evicted since the start. */
  evictedSegments = 0;
  /** Free space and segment bytes at the last measurement; null: unknown. */
  private measurement: { readonly freeBytes: number; readonly bytes: number } | null = null;
  private readonly unreleased: UnreleasedSpace;
  private runningEvictions = 0;
  /** Free space and segments together at the last measurement; null: an eviction broke off since. */
  private last: { readonly availableBytes: number; readonly atMs: number } | null = null;
  /** By how much they became less between measurements without an eviction. */
  private quiet = { lostBytes: 0, ms: 0 };
  /** Before this time nothing is evicted. */
  private retryAtMs = Number.NEGATIVE_INFINITY;
  /** What other programs write. */
  private othersPerMs = 0;

  constructor(private readonly options: DiskQuotaOptions) {
    this.unreleased = new UnreleasedSpace(options.onUnreleased);
  }

  /** Disk space of all segments. */
  bytes(): number {
    let bytes = 0;
    for (const folder of this.options.folders()) bytes += folder.bytes;
    return bytes;
  }

  isLive(folder: StreamFolder): boolean {
    const { lastAddMs, state } = folder;
    if (lastAddMs === null || state.endedMs !== null) return false;
    return this.options.nowMs() - lastAddMs < LIVE_TIMEOUT_MS;
  }

  /** Measures the free space of the file system, and evicts segments when it is too low. */
  async updateFreeBytes(): Promise<void> {
    await this.measure();
    await this.freeUp(0);
  }

  /**
   * Writes a segment, after evicting others if needed.
   * @param bytes its disk space
   * @throws Error of the disk; `NoSpaceError` when nothing may be evicted
   */
  async writeCounted(bytes: number, write: () => Promise<void>): Promise<void> {
    if (!(await this.freeUp(bytes))) throw new NoSpaceError('no disk space is left for video');
    // Free space for two segments, so that the next one fits.
    await this.writeWithRetries(2 * bytes, write);
  }

  /** Writes a small file that does not count. @throws Error of the disk */
  async writeUncounted(write: () => Promise<void>): Promise<void> {
    await this.writeWithRetries(UNCOUNTED_FILE_BYTES, write);
  }

  /** Writes; on a full disk evicts this many bytes and tries again. */
  private async writeWithRetries(bytes: number, write: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await write();
        return;
      } catch (error) {
        if (
          attempt === WRITE_ATTEMPTS_MAX ||
          !isDiskFull(error) ||
          !(await this.evict((freed) => freed >= bytes))
        )
          throw error;
      }
    }
  }

  /** @returns free space and segments together; null when it is unknown */
  private async measure(): Promise<number | null> {
    const freeBytes = await this.options.freeBytes();
    const bytes = this.bytes();
    this.measurement = freeBytes === null ? null : { freeBytes, bytes };
    if (freeBytes === null) return null;
    this.unreleased.update(freeBytes + bytes, this.options.nowMs());
    this.updateOthers(freeBytes + bytes);
    return freeBytes + bytes;
  }

  private updateOthers(availableBytes: number): void {
    const { last, quiet } = this;
    const atMs = this.options.nowMs();
    this.last = { availableBytes, atMs };
    if (last === null || this.runningEvictions > 0) return;
    quiet.lostBytes += last.availableBytes - availableBytes;
    quiet.ms += atMs - last.atMs;
    if (quiet.ms < OTHERS_MS) return;
    this.othersPerMs = Math.max(0, quiet.lostBytes) / quiet.ms;
    this.quiet = { lostBytes: 0, ms: 0 };
  }

  /** Evicts segments as needed. @returns whether this many bytes may be written */
  private async freeUp(bytes: number): Promise<boolean> {
    // Checked before each eviction: others evict at the same time, and what was missing is freed once.
    await this.evict(() => this.missingBytes(bytes, this.unreleased.bytes) <= 0);
    // With snapshots that never free space, a source of 2 MB a second used up all 500 MB in 241 s, and the database
    // shares the file system.
    const unreleasedBytes = Math.min(this.unreleased.bytes, this.options.minFreeBytes / 2);
    return this.missingBytes(bytes, unreleasedBytes) <= 0;
  }

  private missingBytes(bytes: number, unreleasedBytes: number): number {
    const { spaceBytes, minFreeBytes } = this.options;
    const usedBytes = this.bytes() + bytes;
    const { measurement } = this;
    const freeBytes = measurement
      ? measurement.freeBytes - (usedBytes - measurement.bytes)
      : minFreeBytes;
    return Math.max(usedBytes - spaceBytes, minFreeBytes - freeBytes - unreleasedBytes);
  }

  /** Evicts segments until enough bytes are free. @returns whether it evicted any */
  private async evict(isEnough: (freedBytes: number) => boolean): Promise<boolean> {
    if (isEnough(0) || this.options.nowMs() < this.retryAtMs) return false;
    // Directly before and after, so that what others write meanwhile is not taken for space that is not free yet.
    const before = await this.measure();
    const startMs = this.options.nowMs();
    const freed = await this.removeSegments(isEnough);
    if (freed === 0) return false;
    const after = this.last?.availableBytes ?? null;
    if (before !== null && after !== null) this.addUnreleased(freed, before - after, startMs);
    return true;
  }

  /**
   * Removes segments until enough bytes are freed, and measures. One that cannot be removed holds up no others.
   * @returns the bytes of the removed segments
   * @throws Error of the disk when none can be removed
   */
  private async removeSegments(isEnough: (freedBytes: number) => boolean): Promise<number> {
    let freed = 0;
    let failure: unknown = null;
    let failures = 0;
    this.runningEvictions++;
    try {
      while (!isEnough(freed)) {
        const victim = this.findVictim();
        if (!victim) break;
        try {
          freed += await victim.removeOldest();
          victim.failedRemovals = 0;
          this.evictedSegments++;
          this.options.onEvict(victim);
        } catch (error) {
          failure = error;
          // Longer than the pause below: then others come first.
          const delayMs = REMOVAL_RETRY_MS * 2 ** ++victim.failedRemovals;
          victim.removalRetryMs = this.options.nowMs() + Math.min(delayMs, REMOVAL_RETRY_MS_MAX);
          if (++failures < FAILED_REMOVALS_MAX || freed > 0) continue;
          this.retryAtMs = this.options.nowMs() + REMOVAL_RETRY_MS;
          break;
        }
      }
      if (freed > 0) await this.measure();
    } catch (error) {
      failure = error;
    } finally {
      this.runningEvictions--;
    }
    if (failure !== null) this.last = null;
    if (failure !== null && freed === 0) throw failure;
    return freed;
  }

  /** @param missing what was freed and is not free, and what others wrote meanwhile */
  private addUnreleased(freed: number, missing: number, startMs: number): void {
    const nowMs = this.options.nowMs();
    const unreleased = Math.min(freed, missing - this.othersPerMs * (nowMs - startMs));
    // Below half it may be an error of the estimate: when it counted, a program that writes 100 MB a second used up
    // the reserve.
    if (unreleased > freed / 2) this.unreleased.add(unreleased, nowMs);
  }

  /**
   * Of the accounts with evictable segments, takes the one with the most video; of its streams, the one
   * with the oldest segment. Streams that are not live come first.
   */
  private findVictim(): StreamFolder | null {
    const accountBytes = this.bytesByAccount();
    let victim: Candidate | null = null;
    for (const folder of this.options.folders()) {
      const [oldest] = folder.files;
      if (!oldest || this.options.nowMs() < folder.removalRetryMs) continue;
      const isLive = this.isLive(folder);
      if (isLive && endMsOf(oldest) > (folder.endMs ?? 0) - PROTECTED_WINDOW_MS) continue;
      const bytes = accountBytes.get(folder.state.account) ?? 0;
      const candidate = { folder, accountBytes: bytes, isLive, startMs: oldest.startMs };
      if (!victim || precedes(candidate, victim)) victim = candidate;
    }
    return victim?.folder ?? null;
  }

  private bytesByAccount(): ReadonlyMap<string | null, number> {
    const bytesByAccount = new Map<string | null, number>();
    for (const { state, bytes } of this.options.folders())
      bytesByAccount.set(state.account, (bytesByAccount.get(state.account) ?? 0) + bytes);
    return bytesByAccount;
  }
}

function precedes(a: Candidate, b: Candidate): boolean {
  if (a.accountBytes !== b.accountBytes) return a.accountBytes > b.accountBytes;
  if (a.isLive !== b.isLive) return b.isLive;
  return a.startMs < b.startMs;
}

/** Whether evicting segments would help. */
function isDiskFull(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === 'ENOSPC' || code === 'EDQUOT';
}
