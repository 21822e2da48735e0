import { useEffect, useState } from 'react';
import { pageStorage } from '../../sdk/environment.ts';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { storeItem } from '../storage.ts';

/** @returns the code under which the host knows this viewer as a winner; null: not known yet */
export function useWinnerCode(
  { streamId }: Viewer,
  { stream }: Pick<Snapshot, 'stream'>,
  storage = pageStorage(),
): string | null {
  const key = `fourbeat-code-${streamId}`;
  const [known, setKnown] = useState(() => storage?.getItem(key) ?? null);
  // Not every response with the stream has the code, and after the end of the show none has.
  const code = stream?.winner_code ?? known;
  if (code !== known) setKnown(code);
  useEffect(() => {
    if (code !== null) storeItem(storage, key, code);
  }, [storage, key, code]);
  return code;
}
