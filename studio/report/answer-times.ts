import type { AnswerTimes } from '../../protocol/report.ts';
import { secondsLabel } from './durations.ts';
import { texts } from './texts.ts';

type Histogram = AnswerTimes['histogram'];

/** Answer times as chart data: start of each bar in seconds, and its count. */
export function answerTimeBars({ binMs, counts }: Histogram): readonly [number[], number[]] {
  return [counts.map((_, bin) => (bin * binMs) / 1_000), [...counts]];
}

/** Accessible name of the chart. */
export function answerTimesLabel({ binMs, counts }: Histogram): string {
  const peakBin = counts.indexOf(Math.max(...counts));
  return texts.quizzes.answerTimesChart(
    secondsLabel(peakBin * binMs),
    secondsLabel((peakBin + 1) * binMs),
  );
}
