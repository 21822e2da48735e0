import { useSyncExternalStore } from 'react';

/** State outside of React, which components read with `useExternalStore`. */
export class ExternalStore<Snapshot> {
  #snapshot: Snapshot;
  readonly #listeners = new Set<() => void>();

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** @returns unsubscribes */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  protected update(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    this.notify();
  }

  protected notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** The snapshot of a store; the component renders again when it changes. */
export function useExternalStore<Snapshot>(store: ExternalStore<Snapshot>): Snapshot {
  return useSyncExternalStore(store.subscribe, () => store.snapshot);
}
