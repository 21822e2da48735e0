import type { EventsInterval } from './types.ts';

/** Events that change a state: it holds also for a viewer who did not see them. */
const STATE_TYPES = ['chat-mode', 'chat-hidden', 'chat-pinned', 'product', 'winner-contact'];
/** Intervals with such events that are kept; of a longer pause, the oldest are dropped. */
const MAX_INTERVALS = 1_000;

/** Keeps the events that change a state, for a viewer who jumps ahead over their intervals. */
export class SkippedEvents {
  readonly #notShown = new Map<number, EventsInterval['events']>();
  #newestShown = -Infinity;

  /** Adds an interval of the feed, before it is shown. */
  add({ interval, events }: EventsInterval): void {
    if (interval <= this.#newestShown) return;
    const changes = events.filter(({ type }) => STATE_TYPES.includes(type));
    if (changes.length > 0) this.#notShown.set(interval, changes);
    if (this.#notShown.size <= MAX_INTERVALS) return;
    const [oldest] = this.#notShown.keys();
    this.#notShown.delete(oldest as number);
  }

  /** @returns the interval that is shown now, after the events of intervals that were skipped before it */
  addTo(shown: EventsInterval): EventsInterval {
    const { interval } = shown;
    // After a jump back: what was skipped before it has been added already.
    if (interval <= this.#newestShown) return shown;
    this.#newestShown = interval;
    const passed = [...this.#notShown.keys()].filter((number) => number <= interval);
    passed.sort((first, second) => first - second);
    const skipped = passed.flatMap((number) =>
      number < interval ? (this.#notShown.get(number) ?? []) : [],
    );
    for (const number of passed) this.#notShown.delete(number);
    return skipped.length > 0 ? { interval, events: [...skipped, ...shown.events] } : shown;
  }
}
