import { INTERVAL_MS } from '../../protocol/interval.ts';
import { REGISTRATION_MS } from '../../protocol/limits.ts';
import type { ViewCount } from '../types.ts';

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** A heartbeat counts in its interval and in this many after it (SPEC V-3). */
const REGISTRATION_INTERVALS = REGISTRATION_MS / INTERVAL_MS;
/** View counts are published in the last interval of each second. */
const COUNT_PHASE = 3;

/** Counts viewers (SPEC V). */
export class MockAudience {
  /** Interval of the last heartbeat, by viewer id. */
  readonly #lastHeartbeats = new Map<string, number>();
  #lastPublished = 0;
  /** Viewers besides those who send heartbeats. */
  others = 0;

  register(viewer: string, interval: number): void {
    this.#lastHeartbeats.set(viewer, interval);
  }

  countAt(interval: number): ViewCount {
    for (const [viewer, last] of this.#lastHeartbeats) {
      if (last + REGISTRATION_INTERVALS < interval) this.#lastHeartbeats.delete(viewer);
    }
    const value = this.#lastHeartbeats.size + this.others;
    return { value, formatted: compact.format(value) };
  }

  /** The count to publish in this interval; null: none (SPEC F-27). @param isRead by any viewer */
  countDueIn(interval: number, isRead: boolean): ViewCount | null {
    if (interval % 4 !== COUNT_PHASE) return null;
    const count = this.countAt(interval);
    const isDue = isRead || count.value > 0 || this.#lastPublished > 0;
    this.#lastPublished = count.value;
    return isDue ? count : null;
  }
}
