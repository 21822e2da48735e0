import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { uuid } from '../../../protocol/text.ts';
import { Pace, type Step } from '../../platform/pace.ts';
import { runtime } from '../../platform/runtime.ts';
import { runInSlices, type Sliced } from '../../platform/slices.ts';
import { isGap, type Segment } from '../segment.ts';
import { WorkQueue } from '../work-queue.ts';
import { type Disk, localDisk } from './disk.ts';
import { DiskQuota } from './disk-quota.ts';
import { EvictionLog } from './eviction-log.ts';
import { PREVIEW_WINDOW_MS, type SegmentStore, type SegmentStoreStats } from './segment-store.ts';
import { SEGMENTS_PER_STEP, type StoredStream, StreamFolder } from './stream-folder.ts';
import { FileStreamSegments } from './stream-segments-files.ts';

export interface FileSegmentStoreOptions {
  /** Parent of the streams' folders. One process owns it; changes by others are not noticed. */
  readonly directory: string;
  /** DVR window, and how long an ended stream that is no recording is retained, ms. */
  readonly dvrMs: number;
  /** Most disk space of all segments together. */
  readonly spaceBytes: number;
  /** Free space of the file system to leave to others. */
  readonly minFreeBytes: number;
  /** Service time, Unix ms. */
  readonly nowMs: () => number;
  /** Whether the producer wants the stream as a recording; null: unknown, so that its retention stays. */
  readonly isRecording: (streamId: string) => Promise<boolean | null>;
  readonly logger: Logger;
  /** Replaces the local file system in tests. */
  readonly disk?: Disk;
  /** How long `close` waits for a disk that hangs, ms. */
  readonly closeTimeoutMs?: number;
}

// A disk that hangs must not block the shutdown of the service.
const CLOSE_TIMEOUT_MS = 5_000;
// Interval of expiry, retries and measurements.
const SWEEP_MS = 1_000;
// Segments outside the DVR window stay this long for players with an older playlist.
const REMOVAL_DELAY_MS = 60_000;
// Unwritten segments stay in memory this long for viewers at the end of the stream.
const DISCARD_AFTER_MS = 60_000;
// A source that was early by a few seconds may have left a preview that ends so long after service time.
const PREVIEW_LEAD_MS_MAX = 10_000;
// Time after which a file that could not be read is tried again.
const READ_RETRY_MS = 60_000;
// Idle streams beyond this are loaded again on demand. A listed segment takes about 1 KB, so that
// idle streams take 100 MB at most.
const IDLE_STREAMS_MAX = 64;
const IDLE_SEGMENTS_MAX = 100_000;

/** A segment store on a file system, with a folder for each stream. */
export class FileSegmentStore implements SegmentStore {
  private readonly folders = new Map<string, StreamFolder>();
  /** One object for each stream, as long as it is referenced. */
  private readonly streams = new Map<string, WeakRef<FileStreamSegments>>();
  /** Streams whose folder could not be indexed. */
  private readonly unreadable = new Set<string>();
  private readonly loading = new Map<string, Promise<FileStreamSegments>>();
  /** Streams with a file that could not be read, and when to try again. */
  private readonly readRetries = new Map<string, { readonly path: string; atMs: number }>();
  /** Streams with pending writes or recent segments; must not be garbage-collected. */
  private readonly live = new Map<string, FileStreamSegments>();
  private readonly idle = new LRUCache<string, FileStreamSegments>({
    max: IDLE_STREAMS_MAX,
    maxSize: IDLE_SEGMENTS_MAX,
    sizeCalculation: ({ segments }) => Math.min(segments.length + 1, IDLE_SEGMENTS_MAX),
  });
  private readonly quota: DiskQuota;
  private readonly disk: Disk;
  /** Number of `isRecording` checks, to take recordings in turn. */
  private recordingChecks = 0;
  private sweeping: Promise<void> | null = null;
  /** Streams that have ended. */
  private readonly endedLoads = new WorkQueue();
  /** One client that reads more recordings than are kept would take the whole thread. */
  private readonly endedPace = new Pace();
  /** Others, which are few: a show that goes on after a restart does not wait for an archive. */
  private readonly openLoads = new WorkQueue();
  private timer: Timer | null = null;

  /** Use `openSegmentStore`. */
  constructor(private readonly options: FileSegmentStoreOptions) {
    const { spaceBytes, minFreeBytes, nowMs, logger } = options;
    this.disk = options.disk ?? localDisk;
    const folders = () => this.folders.values();
    const evictions = new EvictionLog(logger, nowMs);
    const onEvict = (folder: StreamFolder) => evictions.onSegmentEvicted(folder);
    const freeBytes = () => this.disk.freeBytes(options.directory);
    const onUnreleased = (bytes: number) => evictions.onSpaceUnreleased(bytes);
    const callbacks = { nowMs, folders, freeBytes, onEvict, onUnreleased };
    this.quota = new DiskQuota({ spaceBytes, minFreeBytes, ...callbacks });
  }

  /** Indexes the streams on disk. */
  async scan(): Promise<void> {
    const names = await this.disk.list(this.options.directory);
    // Other files may be in the directory.
    for (const name of names.filter(isStreamId)) {
      const folder = await this.scanFolder(name);
      if (folder) await this.runMaintenance(() => this.removePreviewOfFuture(folder));
    }
  }

  /** @returns null when the folder cannot be read: the service starts without the video of this stream */
  private async scanFolder(streamId: string): Promise<StreamFolder | null> {
    const folder = this.addFolder(streamId);
    const logger = this.options.logger.child({ stream: streamId });
    try {
      const err = await folder.scan();
      if (err) logger.error({ err }, 'the state of stored video cannot be read; it is kept');
      return folder;
    } catch (err) {
      logger.error(
        { err },
        'stored video cannot be read; it is missing until a source connects or the service restarts',
      );
      this.folders.delete(streamId);
      this.unreadable.add(streamId);
      return null;
    }
  }

  /**
   * Service time was set back (K-7): the next video of the stream would wait until the preview has passed.
   * Streams that viewers saw have ended then, and keep their video.
   */
  private async removePreviewOfFuture(folder: StreamFolder): Promise<void> {
    const isOfFuture = (folder.endMs ?? 0) > this.options.nowMs() + PREVIEW_LEAD_MS_MAX;
    if (folder.state.retention === 'preview' && isOfFuture)
      await folder.removeBefore(Number.POSITIVE_INFINITY);
  }

  startSweeping(): void {
    this.timer = runtime.setInterval(() => void this.sweep(), SWEEP_MS);
  }

  async open(streamId: string, network = ''): Promise<FileStreamSegments> {
    if (!isStreamId(streamId)) throw new RangeError('invalid stream id');
    const open = this.streams.get(streamId)?.deref();
    if (open) {
      this.idle.get(streamId); // marks it as recently used
      return open;
    }
    const loading = this.loading.get(streamId);
    if (loading) {
      const folder = this.folders.get(streamId);
      if (folder)
        for (const queue of [this.openLoads, this.endedLoads]) queue.join(network, folder);
      return loading;
    }
    const opening = this.load(streamId, network).finally(() => this.loading.delete(streamId));
    this.loading.set(streamId, opening);
    return opening;
  }

  async find(streamId: string, network = ''): Promise<FileStreamSegments | null> {
    const existing = this.streams.get(streamId)?.deref();
    const hasFiles = (this.folders.get(streamId)?.files.length ?? 0) > 0;
    if (!hasFiles) return existing && existing.segments.length > 0 ? existing : null;
    const stream = await this.open(streamId, network);
    return stream.segments.length > 0 ? stream : null;
  }

  stats(): SegmentStoreStats {
    let fullStreams = 0;
    for (const stream of this.live.values()) if (stream.hasWriteFault) fullStreams++;
    return { bytes: this.quota.bytes(), fullStreams, evicted: this.quota.evictedSegments };
  }

  async close(): Promise<void> {
    if (this.timer) runtime.clearTimer(this.timer);
    this.timer = null;
    await Promise.all([...this.live.values()].map((segments) => segments.close(false)));
  }

  /** Retries writes, frees disk space and removes expired segments. */
  sweep(): Promise<void> {
    this.sweeping ??= this.sweepNow().finally(() => {
      this.sweeping = null;
    });
    return this.sweeping;
  }

  private async load(streamId: string, network: string): Promise<FileStreamSegments> {
    const { dvrMs, nowMs, logger, closeTimeoutMs = CLOSE_TIMEOUT_MS } = this.options;
    const folder = this.folders.get(streamId) ?? this.addFolder(streamId);
    const streamLogger = logger.child({ stream: streamId });
    // A source must not use the numbers of the stored video again.
    if (this.unreadable.has(streamId)) await folder.scan();
    this.unreadable.delete(streamId);
    const stored = await this.loadInTurn(folder, network);
    const stream = new FileStreamSegments({
      folder,
      stored,
      quota: this.quota,
      dvrMs,
      closeTimeoutMs,
      nowMs,
      logger: streamLogger,
      onPendingWrites: () => this.live.set(streamId, stream),
    });
    const reference = new WeakRef(stream);
    this.streams.set(streamId, reference);
    listenToRemovals(folder, reference);
    this.idle.set(streamId, stream);
    await this.onLoaded(streamId, stream, stored, streamLogger);
    return stream;
  }

  private async onLoaded(
    streamId: string,
    stream: FileStreamSegments,
    { files, broken, unreadable, readFault }: StoredStream,
    logger: Logger,
  ): Promise<void> {
    const gaps = await runInSlices(countGaps(stream.segments), new Pace().step);
    const segments = stream.segments.length - gaps;
    const hidden = files - segments;
    if (readFault) {
      const { path, err } = readFault;
      this.readRetries.set(streamId, { path, atMs: this.options.nowMs() + READ_RETRY_MS });
      logger.error({ err, unreadable }, 'stored video cannot be read; its segments are gaps');
    }
    if (broken > 0) logger.warn({ broken }, 'broken segment files removed');
    if (hidden > 0 || gaps > 0)
      logger.info({ segments, gaps, hidden }, 'stored segments loaded with gaps');
  }

  /** Loads a stream again, once the file that could not be read can be read. */
  private async retryRead(streamId: string): Promise<void> {
    const { nowMs, logger } = this.options;
    const retry = this.readRetries.get(streamId);
    if (!retry || nowMs() < retry.atMs) return;
    const stream = this.streams.get(streamId)?.deref();
    const folder = this.folders.get(streamId);
    if (!stream || !folder) {
      this.readRetries.delete(streamId);
      return;
    }
    // Not twice at once.
    retry.atMs = Number.POSITIVE_INFINITY;
    try {
      if (!(await folder.isReadable(retry.path))) return;
      const stored = await this.loadInTurn(folder, '');
      stream.reload(stored);
      this.readRetries.delete(streamId);
      await this.onLoaded(streamId, stream, stored, logger.child({ stream: streamId }));
    } finally {
      retry.atMs = nowMs() + READ_RETRY_MS;
    }
  }

  /** Loads one stream after the other: 80 of an hour at once ended together, and took 300 ms of the thread. */
  private loadInTurn(folder: StreamFolder, network: string): Promise<StoredStream> {
    // A stream without files, such as a new one, does not wait.
    if (folder.files.length === 0) return folder.load(atOnce);
    const hasEnded = folder.state.endedMs !== null;
    const queue = hasEnded ? this.endedLoads : this.openLoads;
    const step = hasEnded ? this.endedPace.step : atOnce;
    return queue.add(network, folder, folder.files.length, () => folder.load(step));
  }

  private addFolder(streamId: string): StreamFolder {
    const folder = new StreamFolder(join(this.options.directory, streamId), this.disk);
    this.folders.set(streamId, folder);
    return folder;
  }

  private async sweepNow(): Promise<void> {
    for (const [streamId, segments] of this.live) this.sweepStream(streamId, segments);
    await this.runMaintenance(() => this.quota.updateFreeBytes());
    for (const [streamId, folder] of this.folders) {
      await this.runMaintenance(() => folder.removeStuck());
      await this.runMaintenance(() => this.removeExpired(streamId, folder));
    }
    await this.runMaintenance(() => this.checkOneRecording());
    // Not awaited: archives may be loaded first.
    for (const streamId of this.readRetries.keys())
      void this.runMaintenance(() => this.retryRead(streamId));
  }

  /** Checks whether one of the ended recordings is still wanted; a different one each time. */
  private async checkOneRecording(): Promise<void> {
    const endedRecordings = [...this.folders].filter(
      ([streamId, { state }]) => state.retention === 'recording' && !this.live.has(streamId),
    );
    const [streamId] = endedRecordings[this.recordingChecks++ % endedRecordings.length] ?? [];
    if (streamId === undefined || (await this.options.isRecording(streamId)) !== false) return;
    (await this.open(streamId)).setRetention('dvr');
  }

  /** Runs one step. An error is only logged: the next sweep tries again, and writers report it. */
  private async runMaintenance(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.options.logger.debug({ err: error }, 'maintenance of segments failed');
    }
  }

  private sweepStream(streamId: string, stream: FileStreamSegments): void {
    stream.startWriting();
    const folder = this.folders.get(streamId);
    if (folder && this.quota.isLive(folder)) return;
    stream.releaseWritten();
    const isAbandoned = this.options.nowMs() - (folder?.lastAddMs ?? 0) > DISCARD_AFTER_MS;
    if (stream.hasPendingWrites && isAbandoned) stream.discardUnwritten();
    if (stream.hasPendingWrites) return;
    this.live.delete(streamId);
    this.idle.set(streamId, stream);
  }

  private async removeExpired(streamId: string, folder: StreamFolder): Promise<void> {
    const { nowMs } = this.options;
    const { retention, endedMs } = folder.state;
    const dvrMs = retention === 'preview' ? PREVIEW_WINDOW_MS : this.options.dvrMs;
    const endMs = folder.endMs ?? 0;
    if (folder.state.firstMs > 0) await folder.removePreview();
    if (retention !== 'recording' && folder.files.length > 0) {
      const hasExpired = !this.live.has(streamId) && nowMs() > (endedMs ?? endMs) + dvrMs;
      // The stream may have become a recording after its last source left.
      if (hasExpired && retention === 'dvr' && (await this.options.isRecording(streamId))) {
        (await this.open(streamId)).setRetention('recording');
        return;
      }
      await folder.removeBefore(
        hasExpired ? Number.POSITIVE_INFINITY : endMs - dvrMs - REMOVAL_DELAY_MS,
      );
    } else await folder.removeOldEpochs();
    if (!folder.isEmpty || this.loading.has(streamId) || this.live.has(streamId)) return;
    if (folder.next && nowMs() < folder.next.atMs + this.options.dvrMs) return;
    await folder.removeEmpty();
    if (this.loading.has(streamId) || this.streams.get(streamId)?.deref()) return;
    this.folders.delete(streamId);
    this.streams.delete(streamId);
  }
}

/**
 * Opens the segment store in a directory, which is created when needed.
 * @throws Error of the system when the directory cannot be read
 */
export async function openSegmentStore(
  options: FileSegmentStoreOptions,
): Promise<FileSegmentStore> {
  const store = new FileSegmentStore(options);
  await store.scan();
  store.startSweeping();
  return store;
}

/** Not in `load`: a function there would keep the stream in memory as long as the folder. */
function listenToRemovals(folder: StreamFolder, stream: WeakRef<FileStreamSegments>): void {
  folder.onRemoveSegment = (seq) => stream.deref()?.onFileRemoved(seq);
}

const atOnce: Step = (work) => work();

/** Stream ids are lower-case UUIDs: nothing else becomes part of a path. */
function isStreamId(streamId: string): boolean {
  return uuid.safeParse(streamId).data === streamId;
}

/** @param segments may change meanwhile */
function* countGaps(segments: readonly Segment[]): Sliced<number> {
  let gaps = 0;
  for (const [index, segment] of segments.entries()) {
    if (index % SEGMENTS_PER_STEP === 0) yield;
    if (isGap(segment)) gaps++;
  }
  return gaps;
}
