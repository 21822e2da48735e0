import { RedisError } from './redis-error.ts';

export interface StreamId {
  readonly ms: number;
  readonly sequence: number;
}

export interface StreamEntry {
  readonly id: StreamId;
  /** Names and values in turn. */
  readonly fields: readonly string[];
}

export const FIRST_ID: StreamId = { ms: 0, sequence: 0 };
export const LAST_ID: StreamId = { ms: Number.MAX_SAFE_INTEGER, sequence: Number.MAX_SAFE_INTEGER };

/** A Redis stream. The last id stays when entries are trimmed. */
export class Stream {
  private entries: StreamEntry[] = [];
  private lastId = FIRST_ID;

  get length(): number {
    return this.entries.length;
  }

  /** @throws RedisError when the id is not above the last one */
  add(id: StreamId, fields: readonly string[]): void {
    if (compareIds(id, this.lastId) <= 0) {
      throw new RedisError(
        'ERR The ID specified in XADD is equal or smaller than the target stream top item',
      );
    }
    this.entries.push({ id, fields });
    this.lastId = id;
  }

  /** Keeps the newest entries. @returns how many were removed */
  keepNewest(count: number): number {
    return this.removeFirst(Math.max(0, this.entries.length - count));
  }

  /** Removes the entries before an id. @returns how many were removed */
  removeBefore(id: StreamId): number {
    return this.removeFirst(this.firstFrom(id));
  }

  /** The entries from one id to another, which is included. */
  range(from: StreamId, to: StreamId): StreamEntry[] {
    const start = this.firstFrom(from);
    const found: StreamEntry[] = [];
    for (let at = start; at < this.entries.length; at += 1) {
      const entry = this.entries[at] as StreamEntry;
      if (compareIds(entry.id, to) > 0) break;
      found.push(entry);
    }
    return found;
  }

  /** The entries after an id, the oldest first. */
  after({ ms, sequence }: StreamId, countMax: number): StreamEntry[] {
    const start = this.firstFrom({ ms, sequence: sequence + 1 });
    return this.entries.slice(start, start + countMax);
  }

  clone(): Stream {
    const copy = new Stream();
    copy.entries = [...this.entries];
    copy.lastId = this.lastId;
    return copy;
  }

  private removeFirst(count: number): number {
    if (count > 0) this.entries.splice(0, count);
    return count;
  }

  /** The index of the first entry whose id is not below this one. */
  private firstFrom(id: StreamId): number {
    let [low, high] = [0, this.entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareIds((this.entries[middle] as StreamEntry).id, id) >= 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** @throws RedisError for other texts than `<number>-<number>` and `<number>` */
export function parseStreamId(text: string, missingSequence = 0): StreamId {
  const parts = /^(\d+)(?:-(\d+))?$/.exec(text);
  if (!parts) {
    throw new RedisError('ERR Invalid stream ID specified as stream command argument');
  }
  return { ms: Number(parts[1]), sequence: parts[2] ? Number(parts[2]) : missingSequence };
}

/** @throws RedisError for 0-0, which no entry has */
export function requireEntryId(id: StreamId): void {
  if (compareIds(id, FIRST_ID) !== 0) return;
  throw new RedisError('ERR The ID specified in XADD must be greater than 0-0');
}

export const formatStreamId = ({ ms, sequence }: StreamId): string => `${ms}-${sequence}`;

function compareIds(a: StreamId, b: StreamId): number {
  return a.ms - b.ms || a.sequence - b.sequence;
}
