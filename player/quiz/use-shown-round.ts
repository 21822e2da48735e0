import { useEffect, useState } from 'react';
import type { Viewer } from '../../sdk/viewer.ts';

/** A round of winners on screen. */
export interface ShownRound {
  /** The number of winners; null while they are counted. */
  readonly count: number | null;
}

/** The count comes a second after the request, after an outage usually within 10 s (SPEC W-5). */
const COUNTING_MS = 12_000;
const SHOWN_MS = 10_000;

/**
 * The round whose winners are shown. It ends after a time, or with the next quiz or a jump in the
 * video; for a winner it stays until they close it.
 * @returns the round, null: none; and a function that closes it
 */
export function useShownRound(viewer: Viewer) {
  const [round, setRound] = useState<ShownRound | null>(null);

  useEffect(() => {
    const close = () => setRound(null);
    const unsubscribes = [
      viewer.on('request-quiz-winners', () => setRound({ count: null })),
      viewer.on('quiz-winners', ({ count }) => setRound({ count })),
      viewer.on('quiz', close),
      viewer.on('jump', close),
    ];
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
      close();
    };
  }, [viewer]);

  useEffect(() => {
    if (!round) return;
    const durationMs = round.count === null ? COUNTING_MS : SHOWN_MS;
    const timer = setTimeout(() => {
      if (round.count === null || !viewer.snapshot.winners.hasWon) setRound(null);
    }, durationMs);
    return () => clearTimeout(timer);
  }, [viewer, round]);

  return [round, () => setRound(null)] as const;
}
