import { LAST_MOMENT_MS, type ReadyReport } from '../../protocol/report.ts';
import { secondsOf } from './durations.ts';
import { percentOf } from './percent.ts';

/** From this share on, answers of the last moment say that time was short. */
const SHORT_SHARE = 0.1;

/** How fair the quizzes were, in whole sentences. */
export function fairnessWords({
  fairness,
  quizzes,
}: Pick<ReadyReport, 'fairness' | 'quizzes'>): readonly string[] {
  if (!fairness) return ['Nobody answered anything.'];
  return [
    timesOf(fairness.answers, fairness),
    earlyOf(fairness.answers, fairness.early),
    lastMomentOf(fairness.answers, quizzes),
  ];
}

type Times = NonNullable<ReadyReport['fairness']>;

function timesOf(answers: number, { earliest, median, latest }: Times): string {
  if (answers === 1) {
    return `The only answer came ${afterTold(earliest)} viewers were told its quiz.`;
  }
  return `Of ${answers.toLocaleString()} answers the first came ${afterTold(earliest)} viewers were told its quiz, half of them within ${secondsOf(median)}, and the last after ${secondsOf(latest)}.`;
}

/** An answer may be there before the interval begins that tells the quiz. */
function afterTold(ms: number): string {
  return ms < 0 ? `${secondsOf(-ms)} before` : `${secondsOf(ms)} after`;
}

function earlyOf(answers: number, early: number): string {
  if (early === 0) return 'No answer came before its quiz could be on anybody’s screen.';
  return `${early.toLocaleString()} ${early === 1 ? 'answer' : 'answers'} (${percentOf(early / answers)}) came before the quiz could be on anybody’s screen: a program gives such answers, and nobody who watches.`;
}

function lastMomentOf(answers: number, quizzes: ReadyReport['quizzes']): string {
  const last = quizzes.reduce((sum, quiz) => sum + quiz.lastMomentShare * quiz.answered, 0);
  const share = last / answers;
  const told = `${percentOf(share)} came in the last ${secondsOf(LAST_MOMENT_MS)} before the close.`;
  if (share < SHORT_SHARE) return told;
  return `${told} That is many: who gets the picture late may have had too little time, and a larger latency allowance helps.`;
}
