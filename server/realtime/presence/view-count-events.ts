import type { ViewCount } from '../../../protocol/view-counts.ts';
import type { MemoryPresenceRegistry } from './presence-rings.ts';

/** Counts are published once a second, in the intervals with `interval % 4 = 3` (SPEC F-27). */
const COUNT_PHASE = 3;

/** Whether one of the intervals from `from` to `to` contains view counts. */
export function countIsDue(from: number, to: number): boolean {
  return Math.floor((to - COUNT_PHASE) / 4) > Math.floor((from - 1 - COUNT_PHASE) / 4);
}

// One formatter for all: creating one takes as long as hundreds of uses.
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** A count for display, in English compact notation with at most one decimal: 999, 1.2K, 3.4M (SPEC V-7). */
export function formatCount(value: number): string {
  return compact.format(value);
}

/** A count as the data of a `view-count` event, and as the response to a read. */
export function viewCountOf(value: number): ViewCount {
  return { value, formatted: formatCount(value) };
}

/**
 * The `view-count` events of a service that is one process: for streams that have viewers, that have
 * just lost their last viewer, or whose feed is read.
 */
export class ViewCountEvents {
  private taken: ReadonlyMap<string, number> | null = null; // Counts above 0, not yet sealed.
  private published: ReadonlyMap<string, number> = new Map();

  constructor(private readonly presence: Pick<MemoryPresenceRegistry, 'countsAtEndOf'>) {}

  /**
   * The counts to publish in an interval, as they were when it ended.
   * @param activeStreams streams whose feed is read
   */
  take(interval: number, activeStreams: Iterable<string>): Map<string, ViewCount> {
    const counts = new Map(this.presence.countsAtEndOf(interval));
    const events = new Map<string, ViewCount>();
    for (const [streamId, value] of counts) events.set(streamId, viewCountOf(value));
    for (const streamId of [...this.published.keys(), ...activeStreams]) {
      if (!events.has(streamId)) events.set(streamId, viewCountOf(0));
    }
    this.taken = new Map([...counts].filter(([, value]) => value > 0));
    return events;
  }

  /** The counts that `take` returned last are published. */
  markSealed(): void {
    this.published = this.taken ?? this.published;
    this.taken = null;
  }
}
