import { useEffect, useState } from 'react';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { useStoredMax } from '../use-stored-max.ts';
import { storedWinAt } from './stored-win.ts';

/** Of a win whose `quiz-winners` event was not on screen. */
const UNKNOWN_INTERVAL = 1;

/**
 * When this viewer won in this stream, also before a reload.
 * @returns the interval of its newest win that is known; 0: none
 */
export function useWonAt(viewer: Viewer, { state, winners }: Snapshot): number {
  const { streamId } = viewer;
  const [wonAt, raise] = useStoredMax(`fourbeat-won-${streamId}`);
  const { hasWon } = winners;
  useEffect(() => {
    if (hasWon) raise(UNKNOWN_INTERVAL);
  }, [hasWon, raise]);

  useEffect(() => {
    let shownAt = UNKNOWN_INTERVAL;
    const unsubscribes = [
      viewer.on('interval', ({ interval, events }) => {
        if (events.some(({ type }) => type === 'quiz-winners')) shownAt = interval;
        // The response to the report may come after the count.
        if (viewer.snapshot.winners.hasWon) raise(shownAt);
      }),
      viewer.on('jump', () => {
        shownAt = UNKNOWN_INTERVAL;
      }),
    ];
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
  }, [viewer, raise]);

  // Before a reload the video may not have reached the count, and without a recording it never will.
  const [wonBeforeAt] = useState(() => storedWinAt(streamId));
  useEffect(() => {
    if (state === 'ended') raise(wonBeforeAt);
  }, [state, wonBeforeAt, raise]);
  return wonAt;
}
