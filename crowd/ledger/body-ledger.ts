import type { EventsInterval } from '../../protocol/feed.ts';

// A minute of the feed. Nobody in the crowd is ever further behind.
const INTERVALS_MAX = 240;
const EXCERPT_CHARS = 300;

/** A body that somebody read. */
export interface ReadBody {
  readonly interval: EventsInterval;
  /** Nobody had read this interval before. */
  readonly first: boolean;
  /** What is wrong with the body, or null. */
  readonly mismatch: string | null;
}

interface StoredBody {
  readonly bytes: Uint8Array;
  readonly interval: EventsInterval;
}

/**
 * The bodies of the last intervals as they were first read. Every later read is compared with them
 * byte by byte (I-1), which also spares parsing the same bytes for every viewer.
 */
export class BodyLedger {
  private readonly bodies = new Map<number, StoredBody>();

  /** Compares a body with the first one that was read of this interval. */
  read(asked: number, bytes: Uint8Array): ReadBody {
    const known = this.bodies.get(asked);
    if (!known) return this.readFirst(asked, bytes);
    if (Buffer.compare(known.bytes, bytes) === 0) {
      return { interval: known.interval, first: false, mismatch: null };
    }
    const mismatch = `interval ${asked} has two bodies: ${excerpt(known.bytes)} and ${excerpt(bytes)}`;
    return { interval: parsed(bytes) ?? known.interval, first: false, mismatch };
  }

  private readFirst(asked: number, bytes: Uint8Array): ReadBody {
    const interval = parsed(bytes) ?? { interval: Number.NaN, events: [] };
    // A copy: the bytes may be a window of a larger buffer.
    this.bodies.set(asked, { bytes: Uint8Array.from(bytes), interval });
    for (const oldest of this.bodies.keys()) {
      if (this.bodies.size <= INTERVALS_MAX) break;
      this.bodies.delete(oldest);
    }
    const mismatch =
      interval.interval === asked ? null : `asked for ${asked} and got ${excerpt(bytes)}`;
    return { interval, first: true, mismatch };
  }

  /** How many bodies are kept. */
  size(): number {
    return this.bodies.size;
  }
}

function parsed(bytes: Uint8Array): EventsInterval | null {
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
