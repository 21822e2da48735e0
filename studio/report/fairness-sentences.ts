import { LAST_MOMENT_MS } from '../../protocol/limits.ts';
import type { ReadyReport } from '../../protocol/report.ts';
import { secondsLabel } from './durations.ts';
import { percentLabel } from './percent.ts';
import { texts } from './texts.ts';

/** From this share of last-moment answers on, the time to answer was probably too short. */
const LARGE_LAST_MOMENT_SHARE = 0.1;

type FairnessReport = Pick<ReadyReport, 'fairness' | 'quizzes'>;

export function fairnessSentences(report: FairnessReport): readonly string[] {
  const { fairness, quizzes } = report;
  if (!fairness) return [texts.fairness.noAnswers];
  return [
    timesSentence(fairness.answers, fairness),
    earlySentence(fairness.answers, fairness.early),
    lastMomentSentence(fairness.answers, quizzes),
  ];
}

type Fairness = NonNullable<ReadyReport['fairness']>;

function timesSentence(answers: number, { earliest, median, latest }: Fairness): string {
  if (answers === 1) return texts.fairness.onlyAnswer(relativeToSent(earliest));
  return texts.fairness.times(
    answers,
    relativeToSent(earliest),
    secondsLabel(median),
    secondsLabel(latest),
  );
}

/** An answer may precede the start of the interval that has the quiz. */
function relativeToSent(ms: number): string {
  return ms < 0 ? texts.fairness.before(secondsLabel(-ms)) : texts.fairness.after(secondsLabel(ms));
}

function earlySentence(answers: number, early: number): string {
  if (early === 0) return texts.fairness.noneEarly;
  return texts.fairness.early(early, percentLabel(early / answers));
}

function lastMomentSentence(answers: number, quizzes: ReadyReport['quizzes']): string {
  const lastMoment = quizzes.reduce((sum, quiz) => sum + quiz.lastMomentShare * quiz.answered, 0);
  const share = lastMoment / answers;
  const sentence = texts.fairness.lastMoment(percentLabel(share), secondsLabel(LAST_MOMENT_MS));
  if (share < LARGE_LAST_MOMENT_SHARE) return sentence;
  return `${sentence} ${texts.fairness.lastMomentAdvice}`;
}
