import { useCallback, useEffect, useState } from 'react';
import { pageStorage } from '../sdk/environment.ts';
import { storeItem } from './storage.ts';

/**
 * A number that only grows, also across reloads; 0 at first.
 * @returns the number, and a function that raises it to a value
 */
export function useStoredMax(key: string, storage = pageStorage()) {
  const [max, setMax] = useState(() => Number(storage?.getItem(key)) || 0);
  useEffect(() => {
    // Another tab may have stored a greater one.
    if (max > (Number(storage?.getItem(key)) || 0)) storeItem(storage, key, String(max));
  }, [storage, key, max]);
  const raise = useCallback((to: number) => setMax((before) => Math.max(before, to)), []);
  return [max, raise] as const;
}
