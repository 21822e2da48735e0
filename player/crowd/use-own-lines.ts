import { useEffect, useState } from 'react';
import type { ChatKind } from '../../sdk/types.ts';
import type { Line } from './chat-items.ts';
import { notOnScreen, type OwnLine } from './own-lines.ts';

/** In a large crowd a line may never come: the service takes a sample. */
const SHOWN_MS = 30_000;

/** What this viewer wrote and is not on screen yet. */
export function useOwnLines(lines: readonly Line[]): {
  readonly own: readonly OwnLine[];
  add(kind: ChatKind, name: string, text: string): void;
} {
  const [all, setAll] = useState<readonly OwnLine[]>([]);
  const own = notOnScreen(all, lines);
  if (own !== all) setAll(own);

  const last = all.at(-1);
  useEffect(() => {
    if (!last) return;
    const timer = setTimeout(() => setAll([]), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [last]);

  return {
    own,
    add: (kind, name, text) => {
      const before = new Set(lines.map((line) => line.id));
      const id = `own ${performance.now()}`;
      setAll((those) => [...those, { id, kind, name, text, before }]);
    },
  };
}
