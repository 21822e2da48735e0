import type { Chats, EventsInterval } from '../../sdk/types.ts';

/** Tells hearts that are new from those that are seen again by who went back in the picture. */
export class SeenAgain {
  readonly #intervals = new Set<number>();
  #hearts = 0;

  /** How many were seen again so far. */
  get hearts(): number {
    return this.#hearts;
  }

  /** An interval is on screen. */
  take({ interval, events }: EventsInterval): void {
    const chats = events.filter(({ type }) => type === 'chats');
    const hearts = chats.reduce((sum, { data }) => sum + (data as Chats).hearts, 0);
    if (hearts === 0) return;
    if (this.#intervals.has(interval)) this.#hearts += hearts;
    this.#intervals.add(interval);
  }
}
