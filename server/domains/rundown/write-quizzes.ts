import { stringify } from 'csv-stringify/sync';
import type { QuizFileFormat } from '../../../protocol/rundown.ts';
import type { NewQuiz } from '../../../protocol/studio.ts';
import { escapeFormula } from './formats/formula-escape.ts';
import { CHOICE_COLUMNS, COLUMNS } from './formats/fourbeat-csv.ts';

export const CONTENT_TYPES: Readonly<Record<QuizFileFormat, string>> = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8',
};

/** Quizzes of one part of a file: 2,000 of the largest at once block the event loop for 200 ms. */
const PART_QUIZZES = 20;

/** Serializes quizzes to the parts of a file from which `readQuizzes` restores them. */
export function* serializeQuizzes(
  quizzes: readonly NewQuiz[],
  format: QuizFileFormat,
): Generator<string> {
  yield format === 'json' ? '{\n  "quizzes": [' : serializeCsv([], true);
  for (let start = 0; start < quizzes.length; start += PART_QUIZZES) {
    const part = quizzes.slice(start, start + PART_QUIZZES);
    yield format === 'json' ? jsonElements(part, start === 0) : serializeCsv(part, false);
  }
  if (format === 'json') yield quizzes.length === 0 ? ']\n}\n' : '\n  ]\n}\n';
}

/** Elements of the array in the file, indented. */
function jsonElements(quizzes: readonly NewQuiz[], isStart: boolean): string {
  const elements = quizzes.map((quiz) => `\n${JSON.stringify(quiz, null, 2)}`);
  return (isStart ? '' : ',') + elements.join(',').replaceAll('\n', '\n    ');
}

// Without a byte order mark Excel reads the file as Latin-1 and garbles it on save.
function serializeCsv(quizzes: readonly NewQuiz[], isStart: boolean): string {
  return stringify(quizzes.map(rowOf), {
    columns: COLUMNS,
    header: isStart,
    record_delimiter: '\r\n',
    quote_record_delimiter: true,
    bom: isStart,
    cast: { string: escapeFormula },
  });
}

function rowOf({ question, choices, answer, duration, reveal }: NewQuiz) {
  const cells = CHOICE_COLUMNS.map((name, index) => [name, choices[index] ?? '']);
  return { question, ...Object.fromEntries(cells), answer, duration, reveal };
}
