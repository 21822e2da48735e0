import type { Storage } from './environment.ts';

/** Keeps one text over a reload, where that can be done. */
export class Keeping {
  readonly #storage: Storage | null;
  readonly #key: string;

  constructor(storage: Storage | null, key: string) {
    this.#storage = storage;
    this.#key = key;
  }

  load(): string | null {
    try {
      return this.#storage?.getItem(this.#key) ?? null;
    } catch {
      return null;
    }
  }

  save(text: () => string): void {
    try {
      this.#storage?.setItem(this.#key, text());
    } catch {
      // It is full, or not allowed: nothing is kept.
    }
  }
}
