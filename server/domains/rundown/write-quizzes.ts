import { stringify } from 'csv-stringify/sync';
import type { QuizFileFormat } from '../../../protocol/rundown.ts';
import type { NewQuiz } from '../../../protocol/studio.ts';
import { guarded } from './formats/formula-guard.ts';
import { CHOICE_COLUMNS, COLUMNS } from './formats/fourbeat-csv.ts';

/** Media type of a file of quizzes. */
export const CONTENT_TYPES: Readonly<Record<QuizFileFormat, string>> = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8',
};

/** Quizzes as a file from which `readQuizzes` makes the same again. */
export function writtenQuizzes(quizzes: readonly NewQuiz[], format: QuizFileFormat): string {
  return format === 'json' ? `${JSON.stringify({ quizzes }, null, 2)}\n` : csv(quizzes);
}

// Without the mark Excel takes the text for Latin-1, and whoever saves it there spoils it.
function csv(quizzes: readonly NewQuiz[]): string {
  return stringify(quizzes.map(rowOf), {
    columns: COLUMNS,
    header: true,
    record_delimiter: '\r\n',
    quote_record_delimiter: true,
    bom: true,
    cast: { string: guarded },
  });
}

function rowOf({ question, choices, answer, duration, reveal }: NewQuiz) {
  const cells = CHOICE_COLUMNS.map((name, index) => [name, choices[index] ?? '']);
  return { question, ...Object.fromEntries(cells), answer, duration, reveal };
}
