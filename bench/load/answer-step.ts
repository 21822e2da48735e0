import { IncorrectResponse } from '../run/bench.ts';
import type { AnswerResult, AnswerTask } from './answer-load.ts';
import { startLoad } from './load.ts';

type AnswerFigures = Readonly<
  Record<'requests/s' | 'CPU µs a request' | 'p99 ms' | 'CPU of the load, %', number>
>;

/**
 * Answers quizzes with `answer-load.ts`.
 * @param usedS returns the CPU seconds that the measured programs have used so far
 * @throws IncorrectResponse for a status other than 204
 */
export async function sendAnswers(
  task: AnswerTask,
  usedS: () => number,
): Promise<{ figures: AnswerFigures; accepted: readonly number[] }> {
  const load = startLoad('answer-load.ts', task);
  try {
    await load.receive('connected');
    const before = usedS();
    const outcome = await load.receive<AnswerResult>('outcome');
    const { sent, seconds, accepted, incorrect, p99Ms, loadCpuCores } = outcome;
    const cpuS = usedS() - before;
    if (incorrect !== null) throw new IncorrectResponse(`${task.url}: ${incorrect}`);
    const figures = {
      'requests/s': sent / seconds,
      'CPU µs a request': (cpuS / sent) * 1e6,
      'p99 ms': p99Ms,
      'CPU of the load, %': loadCpuCores * 100,
    };
    return { figures, accepted };
  } finally {
    await load.stop();
  }
}
