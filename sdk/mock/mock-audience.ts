import { INTERVAL_MS } from '../../protocol/interval.ts';
import { REGISTRATION_MS } from '../../protocol/limits.ts';
import type { ViewCount } from '../types.ts';

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** A registration counts in its interval and in so many after it (SPEC V-3). */
const INTERVALS = REGISTRATION_MS / INTERVAL_MS;
/** Counts are in the last interval of each second. */
const COUNT_PHASE = 3;

/** Who is here (SPEC V). */
export class MockAudience {
  /** The interval of the last registration, by viewer. */
  readonly #beats = new Map<string, number>();
  #lastTold = 0;
  /** Viewers that are there besides those who register. */
  others = 0;

  register(viewer: string, interval: number): void {
    this.#beats.set(viewer, interval);
  }

  countAt(interval: number): ViewCount {
    for (const [viewer, last] of this.#beats) {
      if (last + INTERVALS < interval) this.#beats.delete(viewer);
    }
    const value = this.#beats.size + this.others;
    return { value, formatted: compact.format(value) };
  }

  /** The count that the feed tells in this interval; null: none is due (SPEC F-27). */
  told(interval: number, isRead: boolean): ViewCount | null {
    if (interval % 4 !== COUNT_PHASE) return null;
    const count = this.countAt(interval);
    const isDue = isRead || count.value > 0 || this.#lastTold > 0;
    this.#lastTold = count.value;
    return isDue ? count : null;
  }
}
