import type { Storage } from '../sdk/environment.ts';

/** Stores a value across reloads, where that is possible. @param storage null: there is none */
export function storeItem(storage: Storage | null, key: string, value: string): void {
  try {
    storage?.setItem(key, value);
  } catch {
    // The storage is full: the value is lost with the page.
  }
}
