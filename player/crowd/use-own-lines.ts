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

  const oldest = all.at(0);
  useEffect(() => {
    if (!oldest) return;
    const forget = () => setAll((those) => those.filter((one) => one !== oldest));
    const timer = setTimeout(forget, oldest.writtenMs + SHOWN_MS - performance.now());
    return () => clearTimeout(timer);
  }, [oldest]);

  return {
    own,
    add: (kind, name, text) => {
      const before = new Set(lines.map((line) => line.id));
      const writtenMs = performance.now();
      const id = `own ${writtenMs}`;
      setAll((those) => [...those, { id, kind, name, text, before, writtenMs }]);
    },
  };
}
