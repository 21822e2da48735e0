interface Listener {
  readonly run: (data: never) => unknown;
}

/** Listeners by event type. */
export class Listeners {
  readonly #byType = new Map<string, Set<Listener>>();

  /** @returns a function that removes the listener */
  on(type: string, run: (data: never) => void): () => void {
    const listener = { run };
    const listeners = this.#byType.get(type) ?? new Set();
    this.#byType.set(type, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Exceptions and rejections of a listener go to the console and do not affect the others. */
  emit(type: string, data: unknown): void {
    const listeners = this.#byType.get(type);
    // A listener added meanwhile is called from the next event on; a removed one is not called.
    for (const listener of [...(listeners ?? [])]) {
      if (listeners?.has(listener))
        (async () => listener.run(data as never))().catch(console.error);
    }
  }

  clear(): void {
    this.#byType.clear();
  }
}
