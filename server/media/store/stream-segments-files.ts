import type { Logger } from 'pino';
import { waitAtMost } from '../../platform/wait-at-most.ts';
import type { Epoch, Segment, TrackBytes, TrackId } from '../segment.ts';
import { type DiskQuota, PROTECTED_WINDOW_MS } from './disk-quota.ts';
import { packSegment } from './file-contents.ts';
import { diskBytesOf, type NextNumbers } from './file-names.ts';
import { SegmentBuffer } from './segment-buffer.ts';
import type { SegmentList } from './segment-list.ts';
import { PREVIEW_WINDOW_MS, type Retention, type StreamSegments } from './segment-store.ts';
import type { StoredStream, StreamFolder } from './stream-folder.ts';

// 15 s of the default ladder at its maximum bit rates; more than 30 s of a typical source.
const BUFFER_BYTES_MAX = 64 << 20;
// Players need a few segments in memory, however large they are.
const BUFFER_SEGMENTS_MIN = 4;
// Delay before a failed write is retried.
const RETRY_MS = 30_000;

export interface FileStreamSegmentsOptions {
  readonly folder: StreamFolder;
  readonly stored: StoredStream;
  readonly quota: DiskQuota;
  readonly dvrMs: number;
  /** How long `close` waits at most, ms. */
  readonly closeTimeoutMs: number;
  readonly nowMs: () => number;
  readonly logger: Logger;
  /** Called when writes are pending; `startWriting` must then be called from time to time. */
  readonly onPendingWrites: () => void;
}

/** The numbers begin at 0 if no write ever fails. */
const NOTHING_NOTED: NextNumbers = { seq: 0, epoch: 0, atMs: 0 };

/** A failed write: the stream is in memory only until a retry succeeds. */
interface WriteFault {
  retryAtMs: number;
  /** Segments that left the buffer unwritten. */
  lostSegments: number;
}

/**
 * Segments of one stream as files, the newest in memory too. A segment that cannot be written before
 * it leaves the buffer becomes a gap; earlier and later segments stay playable.
 */
export class FileStreamSegments implements StreamSegments {
  readonly epochs: Epoch[];
  version = 1;
  private list: SegmentList;
  private readonly buffer = new SegmentBuffer();
  /** Segments up to this number are on disk or lost. */
  private lastWrittenSeq: number;
  /** Whether an epoch or a segment was added. */
  private hasAdded = false;
  /** The newest segment when `removeBefore` last removed some. */
  private removedThroughSeq = -1;
  private isStateWritten = true;
  private fault: WriteFault | null = null;
  private writing: Promise<void> | null = null;
  private noting: Promise<void> | null = null;

  constructor(private readonly options: FileStreamSegmentsOptions) {
    const { stored } = options;
    this.list = stored.list;
    this.epochs = [...stored.epochs];
    // A restart while the disk was full: players have seen the numbers of segments that are lost.
    const lastSeenSeq = (options.folder.next?.seq ?? 0) - 1;
    // The newest one on disk is not listed when it cannot be read.
    this.lastWrittenSeq = Math.max(options.folder.files.at(-1)?.seq ?? -1, lastSeenSeq);
    this.trim();
  }

  /** Lists what could be read now, unless something was added since the files were read first. */
  reload({ list, epochs }: StoredStream): void {
    if (this.hasAdded) return;
    this.list = list;
    this.epochs.splice(0, this.epochs.length, ...epochs);
    this.trim();
    this.version++;
  }

  get segments(): readonly Segment[] {
    return this.list.segments;
  }

  get retention(): Retention {
    return this.options.folder.state.retention;
  }

  get isPreview(): boolean {
    const { previewSeq, firstMs } = this.options.folder.state;
    return this.retention === 'preview' || (previewSeq > 0 && firstMs === 0);
  }

  get hasNewSegments(): boolean {
    const { lastAddMs, state } = this.options.folder;
    return lastAddMs !== null && state.endedMs === null;
  }

  /** Whether writes fail, so that the stream continues from memory and is not recorded. */
  get hasWriteFault(): boolean {
    return this.fault !== null;
  }

  get nextSeq(): number {
    const newestSeq = this.segments.at(-1)?.seq ?? -1;
    return Math.max(newestSeq, this.removedThroughSeq, this.lastWrittenSeq) + 1;
  }

  get nextEpoch(): number {
    const { stored, folder } = this.options;
    const newest = this.epochs.at(-1)?.number ?? -1;
    return Math.max(newest + 1, stored.nextEpoch, folder.next?.epoch ?? 0);
  }

  /** Whether segments or the state are not written yet. */
  get hasPendingWrites(): boolean {
    if (this.buffer.firstAfter(this.lastWrittenSeq)) return true;
    // A stream without segments has no files.
    const isEmpty = this.buffer.size === 0 && this.options.folder.files.length === 0;
    return this.isStatePending && !isEmpty;
  }

  /** The state is removed with the last segment. */
  private get isStatePending(): boolean {
    return !this.isStateWritten || !this.options.folder.hasState;
  }

  addEpoch(epoch: Epoch): void {
    this.hasAdded = true;
    this.epochs.push(epoch);
    this.trimEpochs();
    this.version++;
  }

  add(segment: Segment, bytes: TrackBytes): void {
    const { folder, nowMs } = this.options;
    if (segment.seq < this.nextSeq) {
      throw new RangeError(`segment ${segment.seq} does not follow its predecessor`);
    }
    this.hasAdded = true;
    this.list.add(segment);
    this.buffer.add(segment, bytes);
    folder.lastAddMs = nowMs();
    if (folder.state.endedMs !== null) this.updateState({ endedMs: null });
    this.trimToWindow();
    this.trimBuffer();
    if (!this.isListed(segment)) this.trimPreview();
    this.trimEpochs();
    this.version++;
    if (this.fault) this.noteNext();
    this.startWriting();
  }

  read(epoch: number, seq: number, track: TrackId): Uint8Array | Blob | null {
    const segment = this.list.find(seq);
    if (segment?.epoch !== epoch || !this.isListed(segment)) return null;
    return this.buffer.read(seq, track) ?? this.options.folder.slice(segment, track);
  }

  setAccount(account: string): void {
    if (this.options.folder.state.account === account) return;
    this.updateState({ account });
    this.startWriting();
  }

  setRetention(retention: Retention): void {
    if (this.retention === retention) return;
    this.updateState({ retention });
    this.startWriting();
  }

  startPreview(): void {
    const { folder, logger } = this.options;
    // The state says where one preview is: another one begins once the previous one is removed.
    if (this.isPreview || folder.endedPreview) return;
    if (!folder.isStateKnown || folder.files.length === 0) {
      this.setRetention('preview');
      return;
    }
    logger.warn(
      { retention: this.retention },
      'the database does not know that this stream has started; its stored video stays, and viewers get it after a start',
    );
    this.updateState({ previewSeq: this.nextSeq, firstMs: 0 });
    this.startWriting();
  }

  setEnded(ms: number): void {
    if (this.options.folder.state.endedMs !== null) return;
    this.updateState({ endedMs: ms });
    this.startWriting();
  }

  removeBefore(ms: number): void {
    this.updateState({ firstMs: ms });
    this.trimPreview();
    this.trimEpochs();
    this.version++;
    this.startWriting();
  }

  async close(isEnded: boolean): Promise<void> {
    const { nowMs, closeTimeoutMs } = this.options;
    if (isEnded) this.setEnded(nowMs());
    if (this.fault) this.fault.retryAtMs = 0;
    this.startWriting();
    await waitAtMost(closeTimeoutMs, this.whenWritten());
    this.releaseWritten();
  }

  /** Fulfilled when the running writes have ended. */
  async whenWritten(): Promise<void> {
    await this.writing;
    await this.noting;
  }

  /** Removes written segments from memory; for a stream that is no longer live. */
  releaseWritten(): void {
    this.buffer.removeThrough(this.lastWrittenSeq);
  }

  /** Drops segments that could not be written; for a stream that ended a while ago. */
  discardUnwritten(): void {
    // Sequence numbers that players have seen are not reused.
    this.lastWrittenSeq = this.nextSeq - 1;
    this.buffer.removeThrough(this.lastWrittenSeq);
    const { folder } = this.options;
    if (this.list.truncate((seq) => folder.has(seq))) this.version++;
    this.fault = null;
  }

  /** Call before the file of a segment is removed. */
  onFileRemoved(seq: number): void {
    if (!this.list.removeThrough(seq)) return;
    this.trimEpochs();
    this.version++;
  }

  private updateState(state: Partial<StreamFolder['state']>): void {
    const { folder } = this.options;
    folder.state = { ...folder.state, ...state };
    this.isStateWritten = false;
  }

  private trim(): void {
    this.trimToWindow();
    this.trimPreview();
    this.trimEpochs();
  }

  /** Removes segments outside the DVR window from the list. */
  private trimToWindow(): void {
    if (this.retention === 'dvr') this.list.trimToWindow(this.options.dvrMs);
    if (this.retention === 'preview') this.list.trimToWindow(PREVIEW_WINDOW_MS);
  }

  /** Removes the segments of the preview that end by `firstMs` from the list. */
  private trimPreview(): void {
    const { previewSeq, firstMs } = this.options.folder.state;
    const first = this.segments.find(({ seq }) => seq >= previewSeq);
    if (!first || this.isListed(first)) return;
    this.removedThroughSeq = this.nextSeq - 1;
    this.list.removeBetween(first.seq, firstMs);
  }

  /** Whether a segment is not of a preview that the start has ended. */
  private isListed({ seq, startMs, durationMs }: Segment): boolean {
    const { previewSeq, firstMs } = this.options.folder.state;
    return seq < previewSeq || startMs + durationMs > firstMs;
  }

  /** Limits the buffer. Unwritten segments that leave it become gaps. */
  private trimBuffer(): void {
    const newest = this.segments.at(-1) as Segment;
    while (this.buffer.size > BUFFER_SEGMENTS_MIN) {
      const oldest = this.buffer.firstAfter(-1)?.segment as Segment;
      const isOld = oldest.startMs < newest.startMs - PROTECTED_WINDOW_MS;
      if (!isOld && this.buffer.byteLength <= BUFFER_BYTES_MAX) return;
      if (oldest.seq > this.lastWrittenSeq) this.loseSegment(oldest);
      this.buffer.remove(oldest.seq);
    }
  }

  /** Turns an unwritten segment into a gap. */
  private loseSegment(segment: Segment): void {
    if (!this.fault) this.onWriteError(new Error('the disk is too slow'));
    if (this.fault) this.fault.lostSegments++;
    this.lastWrittenSeq = segment.seq;
    this.list.replaceWithGap(segment);
  }

  /** Removes epochs without segments, except the newest. */
  private trimEpochs(): void {
    const first = this.segments[0]?.epoch ?? this.epochs.at(-1)?.number ?? 0;
    const removedCount = this.epochs.findIndex(({ number }) => number >= first);
    if (removedCount > 0) this.epochs.splice(0, removedCount);
  }

  /** Writes what is pending. Call from time to time: retries failed writes when they are due. */
  startWriting(): void {
    if (!this.hasPendingWrites) return;
    this.options.onPendingWrites();
    if (this.writing) return;
    if (this.fault && this.options.nowMs() < this.fault.retryAtMs) return;
    this.writing = this.writeAll()
      .catch((error: Error) => this.onWriteError(error))
      .finally(() => {
        this.writing = null;
      });
  }

  /** Writes pending segments one at a time and in order; the bounded buffer holds the rest. */
  private async writeAll(): Promise<void> {
    const { folder, quota } = this.options;
    while (this.hasPendingWrites) {
      const buffered = this.buffer.firstAfter(this.lastWrittenSeq);
      if (buffered) {
        const { segment, bytes } = buffered;
        const epoch = this.epochs.find(({ number }) => number === segment.epoch);
        if (epoch && !folder.hasEpoch(epoch.number)) {
          await quota.writeUncounted(() => folder.writeEpoch(epoch));
        }
        // While the disk has space: then a rename suffices when it is full.
        await this.noting;
        if (!folder.next) await quota.writeUncounted(() => folder.noteNext(NOTHING_NOTED));
        const packed = packSegment(segment, bytes);
        await quota.writeCounted(diskBytesOf(packed.file), () => folder.writeSegment(packed));
        this.onSegmentWritten(segment);
      }
      if (this.isStatePending) {
        this.isStateWritten = true;
        await this.writeState();
      }
      this.clearFault();
    }
  }

  private onSegmentWritten(segment: Segment): void {
    if (segment.seq > this.lastWrittenSeq) {
      this.lastWrittenSeq = segment.seq;
      return;
    }
    // The write was so slow that the segment counted as lost.
    this.list.replace(segment);
    this.version++;
  }

  private async writeState(): Promise<void> {
    const { folder, quota } = this.options;
    try {
      await quota.writeUncounted(() => folder.writeState());
    } catch (error) {
      this.isStateWritten = false;
      throw error;
    }
  }

  private onWriteError(error: Error): void {
    const { nowMs, logger } = this.options;
    const retryAtMs = nowMs() + RETRY_MS;
    if (this.fault) {
      this.fault.retryAtMs = retryAtMs;
      return;
    }
    this.fault = { retryAtMs, lostSegments: 0 };
    this.noteNext();
    logger.error(
      { err: error, retryInMs: RETRY_MS },
      'video cannot be written to disk and is not recorded; the live stream continues from memory',
    );
  }

  /** Notes the next numbers while segments are in memory only. An error changes nothing. */
  private noteNext(): void {
    if (this.noting) return;
    const next = this.nextNumbers();
    this.noting = this.options.folder
      .noteNext(next)
      .then(
        () => true,
        () => false,
      )
      .then((isNoted) => {
        this.noting = null;
        if (isNoted && this.fault && this.nextSeq > next.seq) this.noteNext();
      });
  }

  private nextNumbers(): NextNumbers {
    return { seq: this.nextSeq, epoch: this.nextEpoch, atMs: Math.floor(this.options.nowMs()) };
  }

  private clearFault(): void {
    if (!this.fault) return;
    const { lostSegments } = this.fault;
    this.options.logger.warn({ lostSegments }, 'video is written to disk again');
    this.fault = null;
  }
}
