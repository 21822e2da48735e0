import type { Storage } from './environment.ts';

/** Keeps one text over a reload, where that can be done. Other tabs keep theirs in the same place. */
export class PersistentState {
  readonly #storage: Storage | null;
  readonly #key: string;
  /** What was there last. */
  #known: string | null = null;

  constructor(storage: Storage | null, key: string) {
    this.#storage = storage;
    this.#key = key;
  }

  /** @returns what is there that this one has neither loaded nor saved; null: nothing */
  load(): string | null {
    try {
      const text = this.#storage?.getItem(this.#key) ?? null;
      if (text === this.#known) return null;
      this.#known = text;
      return text;
    } catch {
      return null;
    }
  }

  /** @param oldest what was kept for streams before this interval is removed */
  save(text: () => string, oldest: number): void {
    // The keys of `localStorage` are its own; what else apps bring has none that begin so.
    const texts = this.#storage as Record<string, string> | null;
    try {
      this.#known = text();
      this.#storage?.setItem(this.#key, this.#known);
      for (const key in texts) {
        const isOurs = key.startsWith('fourbeat:');
        if (isOurs && JSON.parse(texts[key] as string).next < oldest) delete texts[key];
      }
    } catch {
      // It is full, or not allowed: nothing is kept.
    }
  }
}
