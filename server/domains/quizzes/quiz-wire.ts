import type { StudioQuiz } from '../../../protocol/studio.ts';
import { choiceCounts } from './quiz-rules.ts';
import { newQuizOf, type QuizRow } from './quizzes-sql.ts';

/**
 * A quiz as its producer sees it, with its answer and, once it is closed, its counts (SPEC P-16).
 * @throws RangeError when the row's answer or counts do not fit its choices
 */
export function studioQuizOf(row: QuizRow): StudioQuiz {
  return {
    id: row.id,
    streamId: row.streamId,
    state: row.state,
    ...newQuizOf(row),
    created: row.created,
    closeInterval: row.closeInterval,
    counts: row.counts === null ? null : choiceCounts(row.choices, row.counts),
  };
}
