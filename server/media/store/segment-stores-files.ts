import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { uuid } from '../../../protocol/text.ts';
import { isGap } from '../segment.ts';
import { type Disk, localDisk } from './disk.ts';
import { EvictionLog } from './eviction-log.ts';
import type { ShelfStats, Shelves } from './segment-store.ts';
import { FileShelf } from './segment-store-files.ts';
import { Space } from './space.ts';
import { StreamFolder } from './stream-folder.ts';

export interface ShelvesOptions {
  /** Where the streams' folders are. One process owns it: what others write there is not seen. */
  readonly directory: string;
  /** How far back one can go, and how long a stream stays that is no recording, ms. */
  readonly dvrMs: number;
  /** All segments together take no more. */
  readonly spaceBytes: number;
  /** So much of the file system is left to others. */
  readonly minFreeBytes: number;
  /** Service time, Unix ms. */
  readonly nowMs: () => number;
  /** Whether a stream is to be kept as a recording, as its producer has it now; null: not known. */
  readonly isRecording: (streamId: string) => Promise<boolean | null>;
  readonly logger: Logger;
  /** Another file system, for tests of what disks do. */
  readonly disk?: Disk;
  /** How long a close waits for a disk that hangs, ms. */
  readonly closeMs?: number;
}

// A disk that hangs must not keep the service from stopping.
const CLOSE_MS = 5_000;
// What time does is done so often.
const SWEEP_MS = 1_000;
// Whoever has an old playlist finds its segments for so long.
const LEAVING_MS = 60_000;
// Whoever watches the end of a stream that is only in memory has seen it by then.
const FORGET_MS = 60_000;
// Streams nobody has asked for lately are read again when they are wanted: a segment in the list
// is about 1 KB, so that these are 100 MB at most.
const IDLE_SHELVES_MAX = 64;
const IDLE_SEGMENTS_MAX = 100_000;

/** Shelves whose segments are files, a folder for each stream. */
export class FileShelves implements Shelves {
  private readonly folders = new Map<string, StreamFolder>();
  /** Each is one object for as long as anybody has it. */
  private readonly shelves = new Map<string, WeakRef<FileShelf>>();
  private readonly loading = new Map<string, Promise<FileShelf>>();
  /** Those with something in memory that may not be lost. */
  private readonly live = new Map<string, FileShelf>();
  private readonly idle = new LRUCache<string, FileShelf>({
    max: IDLE_SHELVES_MAX,
    maxSize: IDLE_SEGMENTS_MAX,
    sizeCalculation: ({ segments }) => Math.min(segments.length + 1, IDLE_SEGMENTS_MAX),
  });
  private readonly space: Space;
  private readonly disk: Disk;
  /** How many recordings were asked about. */
  private asked = 0;
  private sweeping: Promise<void> | null = null;
  private timer: Timer | null = null;

  /** Use `openShelves`. */
  constructor(private readonly options: ShelvesOptions) {
    const { spaceBytes, minFreeBytes, nowMs, logger } = options;
    this.disk = options.disk ?? localDisk;
    const folders = () => this.folders.values();
    const evictions = new EvictionLog(logger, nowMs);
    const onEvict = (folder: StreamFolder) => evictions.note(folder);
    this.space = new Space({ spaceBytes, minFreeBytes, nowMs, folders, onEvict });
  }

  /** Learns what is on disk. */
  async look(): Promise<void> {
    const names = await this.disk.names(this.options.directory);
    // Other names are not ours.
    for (const name of names.filter(isStreamId)) await this.addFolder(name).look();
  }

  /** Does what time does, from now on. */
  begin(): void {
    this.timer = setInterval(() => void this.sweep(), SWEEP_MS);
  }

  async open(streamId: string): Promise<FileShelf> {
    if (!isStreamId(streamId)) throw new RangeError('this is no id of a stream');
    const open = this.shelves.get(streamId)?.deref();
    if (open) return open;
    const loading = this.loading.get(streamId);
    if (loading) return loading;
    const opening = this.load(streamId).finally(() => this.loading.delete(streamId));
    this.loading.set(streamId, opening);
    return opening;
  }

  async find(streamId: string): Promise<FileShelf | null> {
    const open = this.shelves.get(streamId)?.deref();
    const hasFiles = (this.folders.get(streamId)?.files.length ?? 0) > 0;
    if (!hasFiles) return open && open.segments.length > 0 ? open : null;
    const shelf = await this.open(streamId);
    return shelf.segments.length > 0 ? shelf : null;
  }

  stats(): ShelfStats {
    let fullStreams = 0;
    for (const shelf of this.live.values()) if (shelf.isFull) fullStreams++;
    return { bytes: this.space.bytes(), fullStreams, evicted: this.space.evicted };
  }

  async close(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    await Promise.all([...this.live.values()].map((shelf) => shelf.close(false)));
  }

  /** Does what time does: tries full disks again, makes room, removes what nobody can see. */
  sweep(): Promise<void> {
    this.sweeping ??= this.sweepNow().finally(() => {
      this.sweeping = null;
    });
    return this.sweeping;
  }

  private async load(streamId: string): Promise<FileShelf> {
    const { dvrMs, nowMs, logger, closeMs = CLOSE_MS } = this.options;
    const folder = this.folders.get(streamId) ?? this.addFolder(streamId);
    const log = logger.child({ stream: streamId });
    const stored = await folder.load();
    const shelf = new FileShelf({
      folder,
      stored,
      space: this.space,
      dvrMs,
      closeMs,
      nowMs,
      logger: log,
      onBusy: () => this.live.set(streamId, shelf),
    });
    const lost = shelf.segments.filter(isGap).length;
    const segments = shelf.segments.length - lost;
    const notShown = stored.segments.length - segments;
    if (stored.broken > 0) log.warn({ broken: stored.broken }, 'broken files of video are removed');
    if (notShown > 0 || lost > 0) log.info({ segments, lost, notShown }, 'video is found');
    const reference = new WeakRef(shelf);
    this.shelves.set(streamId, reference);
    folder.onRemove = (seq) => reference.deref()?.removed(seq);
    this.idle.set(streamId, shelf);
    return shelf;
  }

  private addFolder(streamId: string): StreamFolder {
    const folder = new StreamFolder(join(this.options.directory, streamId), this.disk);
    this.folders.set(streamId, folder);
    return folder;
  }

  private async sweepNow(): Promise<void> {
    for (const [streamId, shelf] of this.live) this.lookAfter(streamId, shelf);
    await this.tolerate(async () => {
      await this.space.measured(await this.disk.freeBytes(this.options.directory));
    });
    for (const [streamId, folder] of this.folders) {
      await this.tolerate(() => this.expire(streamId, folder));
    }
    await this.tolerate(() => this.askAboutOne());
  }

  /** A recording that is over may not be wanted any more: one of them is asked about each time. */
  private async askAboutOne(): Promise<void> {
    const over = [...this.folders].filter(
      ([streamId, { state }]) => state.keeping === 'recording' && !this.live.has(streamId),
    );
    const [streamId] = over[this.asked++ % over.length] ?? [];
    if (streamId === undefined || (await this.options.isRecording(streamId)) !== false) return;
    (await this.open(streamId)).keep('dvr');
  }

  // A disk that fails is told of by who writes; what could not be done is done the next time.
  private async tolerate(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.options.logger.debug({ err: error }, 'video could not be looked after');
    }
  }

  private lookAfter(streamId: string, shelf: FileShelf): void {
    shelf.look();
    const folder = this.folders.get(streamId);
    if (folder && this.space.isLive(folder)) return;
    shelf.rest();
    const isForgotten = this.options.nowMs() - (folder?.lastAddMs ?? 0) > FORGET_MS;
    if (shelf.isBusy && isForgotten) shelf.giveUp();
    if (shelf.isBusy) return;
    this.live.delete(streamId);
    this.idle.set(streamId, shelf);
  }

  /** Removes what is older than one can go back. */
  private async expire(streamId: string, folder: StreamFolder): Promise<void> {
    const { dvrMs, nowMs } = this.options;
    const { keeping, endedMs } = folder.state;
    const endMs = folder.endMs ?? 0;
    if (keeping === 'dvr' && folder.files.length > 0) {
      const isOver = !this.live.has(streamId) && nowMs() > (endedMs ?? endMs) + dvrMs;
      // It may have become one after its last source had left.
      if (isOver && (await this.options.isRecording(streamId))) {
        (await this.open(streamId)).keep('recording');
        return;
      }
      await folder.removeBefore(isOver ? Number.POSITIVE_INFINITY : endMs - dvrMs - LEAVING_MS);
    }
    if (folder.files.length > 0 || this.loading.has(streamId) || this.live.has(streamId)) return;
    await folder.removeRest();
    if (this.loading.has(streamId) || this.shelves.get(streamId)?.deref()) return;
    this.folders.delete(streamId);
    this.shelves.delete(streamId);
  }
}

/**
 * Opens the shelves in a folder, which is made when it is wanted.
 * @throws what the system says when the folder cannot be read
 */
export async function openShelves(options: ShelvesOptions): Promise<FileShelves> {
  const shelves = new FileShelves(options);
  await shelves.look();
  shelves.begin();
  return shelves;
}

/** Ids of streams are uuids in lower case: nothing else becomes part of a path. */
function isStreamId(streamId: string): boolean {
  return uuid.safeParse(streamId).data === streamId;
}
