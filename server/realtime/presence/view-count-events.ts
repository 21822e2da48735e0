import type { ViewCount } from '../../../protocol/view-counts.ts';
import { formatCount } from './format-count.ts';
import type { MemoryPresenceRegistry } from './presence-registry-memory.ts';

/** The intervals that hold a count: one a second, the last of its four. */
const COUNT_PHASE = 3;

/** Whether a count belongs in one of the intervals from `from` to `to`. */
export function countIsDue(from: number, to: number): boolean {
  return Math.floor((to - COUNT_PHASE) / 4) > Math.floor((from - 1 - COUNT_PHASE) / 4);
}

/** The `view-count` events: of streams with viewers, that just lost their last, or are read. */
export class CountEvents {
  private taken: ReadonlyMap<string, number> | null = null;
  private last: ReadonlyMap<string, number> = new Map();

  constructor(private readonly presence: Pick<MemoryPresenceRegistry, 'countsAtEndOf'>) {}

  /**
   * The counts to publish in an interval, as they were when it ended.
   * @param watched streams whose feed is read
   */
  take(interval: number, watched: Iterable<string>): Map<string, ViewCount> {
    const counts = new Map(this.presence.countsAtEndOf(interval));
    const published = new Map<string, ViewCount>();
    for (const [streamId, value] of counts) published.set(streamId, countOf(value));
    const silent = [...this.last.keys(), ...watched];
    for (const streamId of silent)
      if (!published.has(streamId)) published.set(streamId, countOf(0));
    this.taken = new Map([...counts].filter(([, value]) => value > 0));
    return published;
  }

  /** What was taken last is published: who falls to 0 is told against it. */
  sealed(): void {
    this.last = this.taken ?? this.last;
    this.taken = null;
  }
}

function countOf(value: number): ViewCount {
  return { value, formatted: formatCount(value) };
}
