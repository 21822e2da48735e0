/** What the name of a segment file contains; quota and eviction need no reads. */
export interface SegmentFile {
  readonly seq: number;
  readonly epoch: number;
  /** Unix ms, rounded down. */
  readonly startMs: number;
  /** Rounded up, ms. */
  readonly durationMs: number;
  /** Size of the whole file. */
  readonly bytes: number;
}

const NUMBER = '(0|[1-9]\\d{0,14})';
const SEGMENT = new RegExp(`^${NUMBER}-${NUMBER}-${NUMBER}-${NUMBER}-${NUMBER}\\.segment$`);
const EPOCH = new RegExp(`^${NUMBER}\\.epoch$`);
const NEXT = new RegExp(`^${NUMBER}-${NUMBER}-${NUMBER}\\.next$`);

/** The numbers that the next segment and the next epoch of a stream get. */
export interface NextNumbers {
  readonly seq: number;
  readonly epoch: number;
  /** When they were noted, Unix ms. */
  readonly atMs: number;
}

/** An empty file: a rename changes it also on a full disk. */
export function nextFileName({ seq, epoch, atMs }: NextNumbers): string {
  return `${seq}-${epoch}-${atMs}.next`;
}

/** @returns null when it is not the name of a file with the next numbers */
export function parseNextFileName(name: string): NextNumbers | null {
  const match = NEXT.exec(name);
  if (!match) return null;
  const [seq = 0, epoch = 0, atMs = 0] = match.slice(1).map(Number);
  return { seq, epoch, atMs };
}

/** Suffix of a file that is being written. Such a file is garbage after a crash. */
export const UNFINISHED_SUFFIX = '.unfinished';

export function segmentFileName({ seq, epoch, startMs, durationMs, bytes }: SegmentFile): string {
  return `${seq}-${epoch}-${startMs}-${durationMs}-${bytes}.segment`;
}

/** @returns null when it is not the name of a segment file */
export function parseSegmentFileName(name: string): SegmentFile | null {
  const match = SEGMENT.exec(name);
  if (!match) return null;
  const [seq = 0, epoch = 0, startMs = 0, durationMs = 0, bytes = 0] = match.slice(1).map(Number);
  return { seq, epoch, startMs, durationMs, bytes };
}

export function epochFileName(number: number): string {
  return `${number}.epoch`;
}

/** @returns null when it is not the name of an epoch file */
export function parseEpochFileName(name: string): number | null {
  const match = EPOCH.exec(name);
  return match ? Number(match[1]) : null;
}

// File systems allocate whole blocks.
const BLOCK_BYTES = 4096;

export function diskBytesOf({ bytes }: SegmentFile): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** Service time at which the segment of a file ends, Unix ms. */
export function endMsOf({ startMs, durationMs }: SegmentFile): number {
  return startMs + durationMs;
}
