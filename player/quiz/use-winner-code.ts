import { useState } from 'react';
import type { Snapshot } from '../../sdk/viewer.ts';

/** @returns the code under which the host knows this viewer as a winner; null: not known yet */
export function useWinnerCode({ stream }: Pick<Snapshot, 'stream'>): string | null {
  const [known, setKnown] = useState<string | null>(null);
  // Not every response with the stream has the code.
  const code = stream?.winner_code ?? known;
  if (code !== known) setKnown(code);
  return code;
}
