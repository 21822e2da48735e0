import type { EventsInterval } from '../../protocol/feed.ts';

// A minute of the feed; no viewer of a crowd is further behind.
const INTERVALS_MAX = 240;
const EXCERPT_CHARS = 300;

export interface ReadBody {
  readonly interval: EventsInterval;
  /** Whether it is the first read of this interval. */
  readonly isFirstRead: boolean;
  /** What is wrong with the body, or null. */
  readonly mismatch: string | null;
}

interface StoredBody {
  readonly bytes: Uint8Array;
  readonly interval: EventsInterval;
}

/**
 * The bodies of the last intervals as first read. Later reads are compared with them byte by byte
 * (I-1), which also avoids parsing the same bytes for every viewer.
 */
export class BodyLedger {
  private readonly bodies = new Map<number, StoredBody>();

  /** Compares a body with the one that was first read for this interval. */
  read(requested: number, bytes: Uint8Array): ReadBody {
    const stored = this.bodies.get(requested);
    if (!stored) return this.readFirst(requested, bytes);
    if (Buffer.compare(stored.bytes, bytes) === 0) {
      return { interval: stored.interval, isFirstRead: false, mismatch: null };
    }
    const mismatch = `interval ${requested} has two bodies: ${excerpt(stored.bytes)} and ${excerpt(bytes)}`;
    return { interval: parseInterval(bytes) ?? stored.interval, isFirstRead: false, mismatch };
  }

  private readFirst(requested: number, bytes: Uint8Array): ReadBody {
    const interval = parseInterval(bytes) ?? { interval: Number.NaN, events: [] };
    // Copy the bytes: they may be a view of a larger buffer that is reused.
    this.bodies.set(requested, { bytes: Uint8Array.from(bytes), interval });
    for (const oldest of this.bodies.keys()) {
      if (this.bodies.size <= INTERVALS_MAX) break;
      this.bodies.delete(oldest);
    }
    const mismatch =
      interval.interval === requested ? null : `requested ${requested} and got ${excerpt(bytes)}`;
    return { interval, isFirstRead: true, mismatch };
  }

  size(): number {
    return this.bodies.size;
  }
}

function parseInterval(bytes: Uint8Array): EventsInterval | null {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  } catch {
    return null;
  }
}

function excerpt(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString();
  return text.length > EXCERPT_CHARS ? `${text.slice(0, EXCERPT_CHARS)}…` : text;
}
