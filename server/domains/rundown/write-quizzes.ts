import { stringify } from 'csv-stringify/sync';
import type { QuizFileFormat } from '../../../protocol/rundown.ts';
import type { NewQuiz } from '../../../protocol/studio.ts';
import { escapeFormula } from './formats/formula-escape.ts';
import { CHOICE_COLUMNS, COLUMNS } from './formats/fourbeat-csv.ts';

export const CONTENT_TYPES: Readonly<Record<QuizFileFormat, string>> = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8',
};

/** Serializes quizzes to a file from which `readQuizzes` restores them. */
export function serializeQuizzes(quizzes: readonly NewQuiz[], format: QuizFileFormat): string {
  return format === 'json' ? `${JSON.stringify({ quizzes }, null, 2)}\n` : serializeCsv(quizzes);
}

// Without a byte order mark Excel reads the file as Latin-1 and garbles it on save.
function serializeCsv(quizzes: readonly NewQuiz[]): string {
  return stringify(quizzes.map(rowOf), {
    columns: COLUMNS,
    header: true,
    record_delimiter: '\r\n',
    quote_record_delimiter: true,
    bom: true,
    cast: { string: escapeFormula },
  });
}

function rowOf({ question, choices, answer, duration, reveal }: NewQuiz) {
  const cells = CHOICE_COLUMNS.map((name, index) => [name, choices[index] ?? '']);
  return { question, ...Object.fromEntries(cells), answer, duration, reveal };
}
