import type { AnswerTimes } from '../../protocol/report.ts';
import { secondsOf } from './durations.ts';

type Histogram = AnswerTimes['histogram'];

/** The bars of answer times as a chart takes them: where each begins, s, and how many answers it has. */
export function answerTimeBars({ binMs, counts }: Histogram): readonly [number[], number[]] {
  return [counts.map((_, bin) => (bin * binMs) / 1_000), [...counts]];
}

/** The bars in words. */
export function answerTimesLabel({ binMs, counts }: Histogram): string {
  const most = counts.indexOf(Math.max(...counts));
  return `Most answers came between ${secondsOf(most * binMs)} and ${secondsOf((most + 1) * binMs)}`;
}
