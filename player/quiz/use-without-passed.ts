import { useEffect, useState } from 'react';
import type { Viewer, ViewerQuiz } from '../../sdk/viewer.ts';

/** @returns the quiz; null when the picture went over its end: no results will come there */
export function useWithoutPassed(viewer: Viewer, quiz: ViewerQuiz | null): ViewerQuiz | null {
  const [jumpedTo, setJumpedTo] = useState(0);
  useEffect(() => viewer.on('jump', ({ interval }) => setJumpedTo(interval)), [viewer]);
  return quiz && !quiz.results && quiz.quiz.closeInterval <= jumpedTo ? null : quiz;
}
