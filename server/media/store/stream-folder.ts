import { join } from 'node:path';
import { z } from 'zod';
import type { Epoch, Segment, TrackId } from '../segment.ts';
import type { Disk } from './disk.ts';
import type { Keeping } from './segment-store.ts';
import { epochIn, epochParts, placeOf, type SegmentToWrite, segmentIn } from './stored-media.ts';
import {
  diskBytesOf,
  endMsOf,
  epochOfName,
  nameOfEpoch,
  nameOfSegment,
  type SegmentFile,
  segmentOfName,
  UNFINISHED,
} from './stored-names.ts';

/** What is remembered of a stream beside its segments. */
export interface FolderState {
  readonly keeping: Keeping;
  /** When it ended, Unix ms; null: it has not, as far as its last writer knew. */
  readonly endedMs: number | null;
}

/** What was found in a folder. */
export interface Stored {
  readonly segments: readonly Segment[];
  readonly epochs: readonly Epoch[];
  /** Files that were not whole, or without the init segments they need, and are removed. */
  readonly broken: number;
}

const STATE = 'state.json';
const STATE_BYTES_MAX = 4096;
const EPOCH_BYTES_MAX = 1 << 20;
// What is said in a segment's file of 32 tracks is smaller.
const TAIL_BYTES = 4096;
// Reads at once while a folder is loaded: few enough that what others read is not behind them all.
const READS = 16;

const stateSchema = z.object({
  keeping: z.enum(['dvr', 'recording']),
  endedMs: z.number().nullable(),
});

/** A stream's files: one for each segment and epoch. What they are is known without reading them. */
export class StreamFolder {
  /** Segments on disk, by rising number. */
  readonly files: SegmentFile[] = [];
  state: FolderState = { keeping: 'dvr', endedMs: null };
  /** When a segment was last added, Unix ms; null: not since this process began. */
  lastAddMs: number | null = null;
  /** Told of the number of each segment whose file is removed, before it is. */
  onRemove: (seq: number) => void = () => {};
  private readonly epochs = new Set<number>();
  private fileBytes = 0;
  private hasState = false;

  constructor(
    readonly path: string,
    private readonly disk: Disk,
  ) {}

  /** What its segments take on disk. */
  get bytes(): number {
    return this.fileBytes;
  }

  /** When the newest segment on disk ends, Unix ms; null without any. */
  get endMs(): number | null {
    const newest = this.files.at(-1);
    return newest ? endMsOf(newest) : null;
  }

  /** Learns what is there, and removes what was not finished. */
  async look(): Promise<void> {
    for (const name of await this.disk.names(this.path)) {
      const segment = segmentOfName(name);
      const epoch = epochOfName(name);
      if (segment) this.files.push(segment);
      else if (epoch !== null) this.epochs.add(epoch);
      else if (name.endsWith(UNFINISHED)) await this.disk.remove(join(this.path, name));
    }
    this.files.sort((a, b) => a.seq - b.seq);
    this.fileBytes = this.files.reduce((sum, file) => sum + diskBytesOf(file), 0);
    this.hasState = true;
    this.state = (await this.readState()) ?? this.state;
  }

  /** Reads what the segments and epochs are. What is broken is removed. */
  async load(): Promise<Stored> {
    const epochs = await this.loadEpochs();
    const known = new Set(epochs.map(({ number }) => number));
    const files = [...this.files];
    const segments: Segment[] = [];
    let next = 0;
    let broken = 0;
    const reader = async () => {
      for (let file = files[next++]; file; file = files[next++]) {
        const path = this.pathOf(file);
        const tail = await this.disk.read(path, TAIL_BYTES);
        const segment = tail && segmentIn(tail.bytes, tail.fileBytes, file);
        if (segment && known.has(segment.epoch)) segments.push(segment);
        else if (this.forget(file)) {
          broken++;
          await this.disk.remove(path);
        }
      }
    };
    await Promise.all(Array.from({ length: READS }, reader));
    segments.sort((a, b) => a.seq - b.seq);
    return { segments: segments.filter(({ seq }) => this.has(seq)), epochs, broken };
  }

  has(seq: number): boolean {
    return this.files[this.indexOf(seq)]?.seq === seq;
  }

  hasEpoch(number: number): boolean {
    return this.epochs.has(number);
  }

  /** A track's bytes of a segment, as a slice of its file; null when it is not on disk. */
  slice(segment: Segment, track: TrackId): Blob | null {
    const file = this.files[this.indexOf(segment.seq)];
    const place = placeOf(segment, track);
    if (file?.seq !== segment.seq || !place) return null;
    return this.disk.slice(this.pathOf(file), place[0], place[1]);
  }

  async writeSegment({ file, parts }: SegmentToWrite): Promise<void> {
    await this.disk.write(this.pathOf(file), parts);
    this.files.splice(this.indexOf(file.seq), 0, file);
    this.fileBytes += diskBytesOf(file);
  }

  async writeEpoch(epoch: Epoch): Promise<void> {
    await this.disk.write(join(this.path, nameOfEpoch(epoch.number)), epochParts(epoch));
    this.epochs.add(epoch.number);
  }

  async writeState(): Promise<void> {
    const json = new TextEncoder().encode(JSON.stringify(this.state));
    await this.disk.write(join(this.path, STATE), [json]);
    this.hasState = true;
  }

  /** Removes the oldest segment. @returns what became free, bytes */
  async removeOldest(): Promise<number> {
    const [file] = this.files;
    if (!file) return 0;
    this.forget(file);
    this.onRemove(file.seq);
    await this.disk.remove(this.pathOf(file));
    return diskBytesOf(file);
  }

  /** Removes segments that ended before this moment, and epochs that nothing is left of. */
  async removeBefore(ms: number): Promise<void> {
    for (let [oldest] = this.files; oldest && endMsOf(oldest) < ms; [oldest] = this.files) {
      await this.removeOldest();
    }
    const needed = this.files[0]?.epoch;
    for (const number of this.epochs) {
      if (needed === undefined || number >= needed) continue;
      this.epochs.delete(number);
      await this.disk.remove(join(this.path, nameOfEpoch(number)));
    }
  }

  /** Removes all that is left once the last segment is gone. */
  async removeRest(): Promise<void> {
    const epochs = [...this.epochs];
    if (epochs.length === 0 && !this.hasState) return;
    this.epochs.clear();
    this.hasState = false;
    for (const number of epochs) await this.disk.remove(join(this.path, nameOfEpoch(number)));
    await this.disk.remove(join(this.path, STATE));
    await this.disk.removeFolder(this.path);
  }

  private pathOf(file: SegmentFile): string {
    return join(this.path, nameOfSegment(file));
  }

  /** Where a number is, or would be. */
  private indexOf(seq: number): number {
    let [low, high] = [0, this.files.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.files[middle] as SegmentFile).seq < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** @returns whether it was known */
  private forget(file: SegmentFile): boolean {
    const index = this.indexOf(file.seq);
    if (this.files[index] !== file) return false;
    this.files.splice(index, 1);
    this.fileBytes -= diskBytesOf(file);
    return true;
  }

  private async loadEpochs(): Promise<Epoch[]> {
    const epochs: Epoch[] = [];
    for (const number of [...this.epochs].sort((a, b) => a - b)) {
      const file = await this.disk.read(join(this.path, nameOfEpoch(number)), EPOCH_BYTES_MAX);
      const epoch = file && epochIn(file.bytes);
      if (epoch?.number === number) epochs.push(epoch);
      else this.epochs.delete(number);
    }
    return epochs;
  }

  private async readState(): Promise<FolderState | null> {
    const file = await this.disk.read(join(this.path, STATE), STATE_BYTES_MAX);
    if (!file) return null;
    try {
      return stateSchema.parse(JSON.parse(new TextDecoder().decode(file.bytes)));
    } catch {
      return null;
    }
  }
}
