import { useEffect, useState } from 'react';
import type { Viewer } from '../../sdk/viewer.ts';

/** A round on screen; `count` is null while the winners are counted. */
export interface WinnersMoment {
  readonly count: number | null;
}

/** The count comes a second after the request; something is wrong when it does not come at all. */
const COUNTING_MS = 5_000;
const TOLD_MS = 10_000;

/** The moment of the winners, while it lasts. Who has won decides how long. */
export function useWinnersMoment(
  viewer: Viewer,
): readonly [moment: WinnersMoment | null, end: () => void] {
  const [moment, setMoment] = useState<WinnersMoment | null>(null);

  useEffect(() => {
    const end = () => setMoment(null);
    const ends = [
      viewer.on('request-quiz-winners', () => setMoment({ count: null })),
      viewer.on('quiz-winners', ({ count }) => setMoment({ count })),
      viewer.on('quiz', end),
      viewer.on('jump', end),
    ];
    return () => {
      for (const endIt of ends) endIt();
      end();
    };
  }, [viewer]);

  useEffect(() => {
    if (!moment) return;
    const shownMs = moment.count === null ? COUNTING_MS : TOLD_MS;
    const timer = setTimeout(() => {
      if (moment.count === null || !viewer.snapshot.winners.hasWon) setMoment(null);
    }, shownMs);
    return () => clearTimeout(timer);
  }, [viewer, moment]);

  return [moment, () => setMoment(null)];
}
