import type { StudioQuiz } from '../../../protocol/studio.ts';
import { choiceCounts } from './quiz-rules.ts';
import type { QuizRow } from './quizzes-sql.ts';

/**
 * A quiz as its producer sees it, with its answer and, once it is closed, its counts (SPEC P-16).
 * @throws RangeError when the row's answer or counts do not fit its choices
 */
export function studioQuizOf(row: QuizRow): StudioQuiz {
  const answer = row.choices[row.answer];
  if (answer === undefined) throw new RangeError(`quiz ${row.id} has no choice ${row.answer}`);
  return {
    id: row.id,
    streamId: row.streamId,
    state: row.state,
    question: row.question,
    choices: [...row.choices],
    answer,
    duration: row.durationMs,
    reveal: row.reveal,
    created: row.created,
    closeInterval: row.closeInterval,
    counts: row.counts === null ? null : choiceCounts(row.choices, row.counts),
  };
}
