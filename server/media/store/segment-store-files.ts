import type { Logger } from 'pino';
import type { Epoch, PieceBytes, Segment, TrackId } from '../segment.ts';
import { SegmentList } from './segment-list.ts';
import { SegmentMemory } from './segment-memory.ts';
import type { Keeping, Shelf } from './segment-store.ts';
import { LIVE_WINDOW_MS, type Space } from './space.ts';
import { segmentToWrite } from './stored-media.ts';
import { diskBytesOf } from './stored-names.ts';
import type { Stored, StreamFolder } from './stream-folder.ts';

// 14 s of the largest picture of the ladder; more of ordinary ones than the 30 s that are kept.
const MEMORY_BYTES_MAX = 64 << 20;
// A player needs a few, however large they are.
const MEMORY_SEGMENTS_MIN = 4;
// How soon a disk that took nothing is tried again.
const AGAIN_MS = 30_000;

export interface FileShelfOptions {
  readonly folder: StreamFolder;
  readonly stored: Stored;
  readonly space: Space;
  readonly dvrMs: number;
  /** How long a close waits at most. */
  readonly closeMs: number;
  readonly nowMs: () => number;
  readonly logger: Logger;
  /** Told when there is something to write, so that the shelf is looked after until it is. */
  readonly onBusy: () => void;
}

/** Why a stream is in memory only, and when its disk is tried again. */
interface Fault {
  againMs: number;
  /** Segments that left memory and were never written. */
  lost: number;
}

/**
 * A shelf whose segments are files, and the newest in memory too. What the disk does not take before
 * it leaves memory is a gap: what was recorded before it can be seen all the same.
 */
export class FileShelf implements Shelf {
  readonly epochs: Epoch[];
  version = 1;
  private readonly list: SegmentList;
  private readonly memory = new SegmentMemory();
  /** Up to this number segments are on disk, or given up. */
  private writtenTo: number;
  private isStateWritten = true;
  private fault: Fault | null = null;
  private writing: Promise<void> | null = null;

  constructor(private readonly options: FileShelfOptions) {
    const { stored } = options;
    this.list = new SegmentList(stored.segments);
    this.epochs = [...stored.epochs];
    this.writtenTo = stored.segments.at(-1)?.seq ?? -1;
    this.leaveWindow();
    this.leaveEpochs();
  }

  get segments(): readonly Segment[] {
    return this.list.segments;
  }

  get keeping(): Keeping {
    return this.options.folder.state.keeping;
  }

  /** The disk takes nothing: the show goes on from memory, and cannot be seen again. */
  get isFull(): boolean {
    return this.fault !== null;
  }

  get nextSeq(): number {
    return Math.max(this.segments.at(-1)?.seq ?? -1, this.writtenTo) + 1;
  }

  /** Whether something is to be written still. */
  get isBusy(): boolean {
    if (this.memory.after(this.writtenTo)) return true;
    // A stream without a segment has no files.
    const isEmpty = this.memory.size === 0 && this.options.folder.files.length === 0;
    return !this.isStateWritten && !isEmpty;
  }

  addEpoch(epoch: Epoch): void {
    this.epochs.push(epoch);
    this.leaveEpochs();
    this.version++;
  }

  add(segment: Segment, bytes: PieceBytes): void {
    const { folder, nowMs } = this.options;
    if (segment.seq < this.nextSeq) {
      throw new RangeError(`segment ${segment.seq} does not come after the one before`);
    }
    this.list.add(segment);
    this.memory.add(segment, bytes);
    folder.lastAddMs = nowMs();
    if (folder.state.endedMs !== null) this.note({ endedMs: null });
    this.leaveWindow();
    this.leaveMemory();
    this.leaveEpochs();
    this.version++;
    this.write();
  }

  read(epoch: number, seq: number, track: TrackId): Uint8Array | Blob | null {
    const segment = this.list.find(seq);
    if (segment?.epoch !== epoch) return null;
    return this.memory.read(seq, track) ?? this.options.folder.slice(segment, track);
  }

  keep(keeping: Keeping): void {
    if (this.keeping === keeping) return;
    this.note({ keeping });
    this.write();
  }

  async close(isEnded: boolean): Promise<void> {
    const { folder, nowMs, closeMs } = this.options;
    if (isEnded && folder.state.endedMs === null) this.note({ endedMs: nowMs() });
    if (this.fault) this.fault.againMs = 0;
    this.write();
    await endsWithin(closeMs, this.written());
    this.rest();
  }

  /** Fulfilled when all is on disk that it takes now. */
  async written(): Promise<void> {
    await this.writing;
  }

  /** Goes on writing what a disk did not take, when it is time to try again. */
  look(): void {
    this.write();
  }

  /** Nothing was added for a while: what is on disk need not be in memory. */
  rest(): void {
    for (let held = this.memory.after(-1); held; held = this.memory.after(-1)) {
      if (held.segment.seq > this.writtenTo) return;
      this.memory.forget(held.segment.seq);
    }
  }

  /** Nobody comes any more for what only memory has. */
  giveUp(): void {
    // Numbers that players have seen do not come again.
    this.writtenTo = this.nextSeq - 1;
    for (let held = this.memory.after(-1); held; held = this.memory.after(-1)) {
      this.memory.forget(held.segment.seq);
    }
    const { folder } = this.options;
    if (this.list.leaveFromEnd((seq) => folder.has(seq))) this.version++;
    this.fault = null;
  }

  /** The file of a segment is removed. */
  removed(seq: number): void {
    if (!this.list.leaveTo(seq)) return;
    this.leaveEpochs();
    this.version++;
  }

  private note(state: Partial<StreamFolder['state']>): void {
    const { folder } = this.options;
    folder.state = { ...folder.state, ...state };
    this.isStateWritten = false;
  }

  /** Those leave that ended longer ago than one can go back. */
  private leaveWindow(): void {
    if (this.keeping === 'dvr') this.list.leaveWindow(this.options.dvrMs);
  }

  /** Memory is for the newest, and for what the disk still takes. */
  private leaveMemory(): void {
    const newest = this.segments.at(-1) as Segment;
    while (this.memory.size > MEMORY_SEGMENTS_MIN) {
      const oldest = this.memory.after(-1)?.segment as Segment;
      const isOld = oldest.startMs < newest.startMs - LIVE_WINDOW_MS;
      if (!isOld && this.memory.byteLength <= MEMORY_BYTES_MAX) return;
      if (oldest.seq > this.writtenTo) this.lose(oldest);
      this.memory.forget(oldest.seq);
    }
  }

  /** A segment leaves memory that the disk did not take. */
  private lose(segment: Segment): void {
    if (!this.fault) this.fail(new Error('the disk is too slow'));
    if (this.fault) this.fault.lost++;
    this.writtenTo = segment.seq;
    this.list.lose(segment);
  }

  /** Epochs leave with their last segment; the newest stays for what comes. */
  private leaveEpochs(): void {
    const first = this.segments[0]?.epoch ?? this.epochs.at(-1)?.number ?? 0;
    const left = this.epochs.findIndex(({ number }) => number >= first);
    if (left > 0) this.epochs.splice(0, left);
  }

  private write(): void {
    if (!this.isBusy) return;
    this.options.onBusy();
    if (this.writing) return;
    if (this.fault && this.options.nowMs() < this.fault.againMs) return;
    this.writing = this.writeAll()
      .catch((error: Error) => this.fail(error))
      .finally(() => {
        this.writing = null;
      });
  }

  /** One at a time and in order: what waits is in memory, which is bounded. */
  private async writeAll(): Promise<void> {
    const { folder, space } = this.options;
    while (this.isBusy) {
      const held = this.memory.after(this.writtenTo);
      if (held) {
        const { segment, bytes } = held;
        const epoch = this.epochs.find(({ number }) => number === segment.epoch);
        if (epoch && !folder.hasEpoch(epoch.number)) {
          await space.writeSmall(() => folder.writeEpoch(epoch));
        }
        const made = segmentToWrite(segment, bytes);
        await space.spend(diskBytesOf(made.file), () => folder.writeSegment(made));
        this.taken(segment);
      }
      if (!this.isStateWritten) {
        this.isStateWritten = true;
        await this.writeState();
      }
      this.recover();
    }
  }

  /** A segment is on disk. */
  private taken(segment: Segment): void {
    if (segment.seq > this.writtenTo) {
      this.writtenTo = segment.seq;
      return;
    }
    // The disk was so slow that it had been taken for lost.
    this.list.put(segment);
    this.version++;
  }

  private async writeState(): Promise<void> {
    const { folder, space } = this.options;
    try {
      await space.writeSmall(() => folder.writeState());
    } catch (error) {
      this.isStateWritten = false;
      throw error;
    }
  }

  private fail(error: Error): void {
    const { nowMs, logger } = this.options;
    const againMs = nowMs() + AGAIN_MS;
    if (this.fault) {
      this.fault.againMs = againMs;
      return;
    }
    this.fault = { againMs, lost: 0 };
    logger.error(
      { err: error, againInMs: AGAIN_MS },
      'video is not recorded: the disk takes no more. The show goes on from memory',
    );
  }

  private recover(): void {
    if (!this.fault) return;
    this.options.logger.warn({ lost: this.fault.lost }, 'video is recorded again');
    this.fault = null;
  }
}

/** Waits for a promise, but not for ever. */
async function endsWithin(ms: number, work: Promise<void>): Promise<void> {
  let timer: Timer | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
