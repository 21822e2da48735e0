import type { Storage } from '../../../../sdk/environment.ts';

/** The storage of a browser. @param capacity the number of items that fit */
export function memoryStorage(capacity = Number.POSITIVE_INFINITY): Storage {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => {
      if (items.size >= capacity) throw new Error('QuotaExceededError');
      items.set(key, value);
    },
  };
}
