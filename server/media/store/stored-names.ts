/** What the name of a segment's file tells, so that room can be counted and made without reading. */
export interface SegmentFile {
  readonly seq: number;
  readonly epoch: number;
  /** Unix ms, rounded down. */
  readonly startMs: number;
  /** Rounded up. */
  readonly durationMs: number;
  /** Of the whole file. */
  readonly bytes: number;
}

const NUMBER = '(0|[1-9]\\d{0,14})';
const SEGMENT = new RegExp(`^${NUMBER}-${NUMBER}-${NUMBER}-${NUMBER}-${NUMBER}\\.segment$`);
const EPOCH = new RegExp(`^${NUMBER}\\.epoch$`);

/** The name of a file that is being written; it is garbage once its writer is gone. */
export const UNFINISHED = '.unfinished';

export function nameOfSegment({ seq, epoch, startMs, durationMs, bytes }: SegmentFile): string {
  return `${seq}-${epoch}-${startMs}-${durationMs}-${bytes}.segment`;
}

/** @returns null when it is no name of a segment's file */
export function segmentOfName(name: string): SegmentFile | null {
  const match = SEGMENT.exec(name);
  if (!match) return null;
  const [seq = 0, epoch = 0, startMs = 0, durationMs = 0, bytes = 0] = match.slice(1).map(Number);
  return { seq, epoch, startMs, durationMs, bytes };
}

export function nameOfEpoch(number: number): string {
  return `${number}.epoch`;
}

/** @returns null when it is no name of an epoch's file */
export function epochOfName(name: string): number | null {
  const match = EPOCH.exec(name);
  return match ? Number(match[1]) : null;
}

// File systems give whole blocks.
const BLOCK_BYTES = 4096;

/** What a file takes on disk. */
export function diskBytesOf({ bytes }: SegmentFile): number {
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
}

/** When a segment's file ends, Unix ms. */
export function endMsOf({ startMs, durationMs }: SegmentFile): number {
  return startMs + durationMs;
}
