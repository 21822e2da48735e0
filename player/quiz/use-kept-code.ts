import { useEffect, useState } from 'react';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { useWinnerCode } from './use-winner-code.ts';

/**
 * The code of a winner, once the next quiz or a jump in the video has closed the card of the round: the
 * winner may have to show it later.
 * @returns the code, null: none; and a function that hides it
 */
export function useKeptCode(viewer: Viewer, snapshot: Snapshot) {
  const code = useWinnerCode(snapshot);
  const [isKept, setKept] = useState(false);
  const { hasWon } = snapshot.winners;

  useEffect(() => {
    if (!hasWon) return;
    // A hidden code stays hidden until the viewer wins again.
    let isNew = true;
    const keep = () => {
      if (isNew) setKept(true);
      isNew = false;
    };
    const renew = () => {
      isNew = true;
    };
    const unsubscribes = [
      viewer.on('quiz-winners', renew),
      viewer.on('quiz', keep),
      viewer.on('jump', keep),
    ];
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
  }, [viewer, hasWon]);

  return [isKept ? code : null, () => setKept(false)] as const;
}
