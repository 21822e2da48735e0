interface Listener {
  readonly run: (data: never) => unknown;
}

/** Who wants to hear of what. */
export class Listeners {
  readonly #byType = new Map<string, Set<Listener>>();

  /** @returns what ends it */
  on(type: string, run: (data: never) => void): () => void {
    const listener = { run };
    const known = this.#byType.get(type) ?? new Set();
    this.#byType.set(type, known.add(listener));
    return () => known.delete(listener);
  }

  /** What a listener throws, at once or later, is on the console, and stops no other. */
  tell(type: string, data: unknown): void {
    const listeners = this.#byType.get(type);
    // Who begins to listen meanwhile hears of the next one, and who ended it of none.
    for (const listener of [...(listeners ?? [])]) {
      if (listeners?.has(listener))
        (async () => listener.run(data as never))().catch(console.error);
    }
  }

  clear(): void {
    this.#byType.clear();
  }
}
