import { LAST_MOMENT_MS } from '../../protocol/limits.ts';
import type { ReadyReport } from '../../protocol/report.ts';
import { quantity } from '../ui/quantity.ts';
import { secondsLabel } from './durations.ts';
import { percentLabel } from './percent.ts';

/** From this share of last-moment answers on, the time to answer was probably too short. */
const LARGE_LAST_MOMENT_SHARE = 0.1;

type FairnessReport = Pick<ReadyReport, 'fairness' | 'quizzes'>;

export function fairnessSentences(report: FairnessReport): readonly string[] {
  const { fairness, quizzes } = report;
  if (!fairness) return ['No answers.'];
  return [
    timesSentence(fairness.answers, fairness),
    earlySentence(fairness.answers, fairness.early),
    lastMomentSentence(fairness.answers, quizzes),
  ];
}

type Fairness = NonNullable<ReadyReport['fairness']>;

function timesSentence(answers: number, { earliest, median, latest }: Fairness): string {
  if (answers === 1) return `The only answer came ${relativeToSent(earliest)} the quiz was sent.`;
  return `Of ${answers.toLocaleString()} answers the first came ${relativeToSent(earliest)} the quiz was sent, half of them within ${secondsLabel(median)}, and the last after ${secondsLabel(latest)}.`;
}

/** An answer may precede the start of the interval that has the quiz. */
function relativeToSent(ms: number): string {
  return ms < 0 ? `${secondsLabel(-ms)} before` : `${secondsLabel(ms)} after`;
}

function earlySentence(answers: number, early: number): string {
  if (early === 0) return 'No answer arrived before its quiz could be on screen.';
  return `${quantity(early, 'answer')} (${percentLabel(early / answers)}) arrived before the quiz could be on screen. Such answers come from programs, not from people.`;
}

function lastMomentSentence(answers: number, quizzes: ReadyReport['quizzes']): string {
  const lastMoment = quizzes.reduce((sum, quiz) => sum + quiz.lastMomentShare * quiz.answered, 0);
  const share = lastMoment / answers;
  const sentence = `${percentLabel(share)} came in the last ${secondsLabel(LAST_MOMENT_MS)} before the close.`;
  if (share < LARGE_LAST_MOMENT_SHARE) return sentence;
  return `${sentence} This is a large share: viewers with a delayed video may have had too little time. A larger latency allowance helps.`;
}
