import type { Storage } from './environment.ts';

/** Stores one text across reloads, where that is possible. Other tabs use the same key. */
export class PersistentState {
  readonly #storage: Storage | null;
  readonly #key: string;
  /** The text that was loaded or saved last. */
  #lastText: string | null = null;

  constructor(storage: Storage | null, key: string) {
    this.#storage = storage;
    this.#key = key;
  }

  /** @returns the stored text; null: none, or the text that this instance loaded or saved last */
  load(): string | null {
    try {
      const text = this.#storage?.getItem(this.#key) ?? null;
      if (text === this.#lastText) return null;
      this.#lastText = text;
      return text;
    } catch {
      return null;
    }
  }

  /** @param oldest texts of other streams whose `next` interval is before this one are removed */
  save(text: () => string, oldest: number): void {
    // `localStorage` lists its keys as properties; other storages have none with this prefix.
    const texts = this.#storage as Record<string, string> | null;
    try {
      // First, since they may fill the storage.
      for (const key in texts) {
        const isOurs = key.startsWith('fourbeat:');
        if (isOurs && JSON.parse(texts[key] as string).next < oldest) delete texts[key];
      }
    } catch {
      // A text is not JSON: the ones after it stay.
    }
    try {
      this.#lastText = text();
      this.#storage?.setItem(this.#key, this.#lastText);
    } catch {
      // The storage is full or not accessible: nothing is stored.
    }
  }
}
