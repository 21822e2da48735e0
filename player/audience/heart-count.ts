import { useCallback, useState, useSyncExternalStore } from 'react';
import type { Chats, EventsInterval } from '../../sdk/types.ts';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';

/** Counts the hearts that a viewer gets again by seeking back in the video. */
export class RepeatedHeartCounter {
  readonly #intervals = new Set<number>();
  #hearts = 0;

  /** The number of repeated hearts so far. */
  get hearts(): number {
    return this.#hearts;
  }

  add({ interval, events }: EventsInterval): void {
    const chats = events.filter(({ type }) => type === 'chats');
    const hearts = chats.reduce((sum, { data }) => sum + (data as Chats).hearts, 0);
    if (hearts === 0) return;
    if (this.#intervals.has(interval)) this.#hearts += hearts;
    this.#intervals.add(interval);
  }
}

/** The number of hearts since the viewer joined, each counted once. */
export function useHeartCount(viewer: Viewer, { hearts }: Pick<Snapshot, 'hearts'>): number {
  const [repeated] = useState(() => new RepeatedHeartCounter());
  const subscribe = useCallback(
    (onChange: () => void) =>
      viewer.on('interval', (interval) => {
        repeated.add(interval);
        onChange();
      }),
    [viewer, repeated],
  );
  return hearts - useSyncExternalStore(subscribe, () => repeated.hearts);
}
