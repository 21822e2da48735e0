import { CHOICES_MAX } from '../../../../protocol/limits.ts';
import { parseTable, parseWholeNumber, type Row, type Table, widthIssue } from './csv-table.ts';
import { type ImportIssue, type QuizEntry, type QuizReader, UnreadableText } from './entry.ts';
import { unescapeFormula } from './formula-escape.ts';
import { TEXT_CHARS_MAX } from './trivia-quiz.ts';

/** Names of the choice columns, in order. */
export const CHOICE_COLUMNS = Array.from(
  { length: CHOICES_MAX },
  (_, index) => `choice ${index + 1}`,
);
/** Names of all columns, in the order of an export. */
export const COLUMNS = ['question', ...CHOICE_COLUMNS, 'answer', 'duration', 'reveal'];

const REQUIRED_COLUMNS = ['question', 'choice 1', 'choice 2', 'answer'];

const normalizeName = (cell: string) => cell.trim().toLowerCase();

/** Reads the CSV of `exportQuizzes`. Columns may be in any order; optional ones may be missing. */
export const readFourbeatCsv: QuizReader = (text, durationMs) => {
  const isHeader = (cells: readonly string[]) =>
    REQUIRED_COLUMNS.every((name) => cells.map(normalizeName).includes(name));
  const table = parseTable(
    text,
    isHeader,
    `The text has no row with the columns ${REQUIRED_COLUMNS.join(', ')}.`,
  );
  const columns = findColumns(table.header);
  return table.rows.map((row) => widthIssue(table, row) ?? readEntry(row, columns, durationMs));
};

/** An escaped text has at most twice its characters. */
const ESCAPED_CHARS_MAX = 2 * TEXT_CHARS_MAX;

/** The index of each column. Unknown names throw, so that a misspelled column is not lost silently. */
function findColumns({ cells, line }: Table['header']): ReadonlyMap<string, number> {
  const columns = new Map<string, number>();
  for (const [index, cell] of cells.entries()) {
    const name = normalizeName(cell);
    if (name === '') continue;
    if (!COLUMNS.includes(name))
      throw new UnreadableText(`line ${line}: unknown column "${cell.trim().slice(0, 100)}".`);
    if (columns.has(name)) throw new UnreadableText(`line ${line}: two columns "${name}".`);
    columns.set(name, index);
  }
  return columns;
}

function readEntry(
  { line, cells }: Row,
  columns: ReadonlyMap<string, number>,
  durationMs: number,
): QuizEntry | ImportIssue {
  const cellOf = (name: string) => {
    const cell = cells[columns.get(name) ?? -1] ?? '';
    return cell.length > ESCAPED_CHARS_MAX ? cell : unescapeFormula(cell);
  };
  const filled = CHOICE_COLUMNS.filter((name) => cellOf(name) !== '');
  const reveal = cellOf('reveal');
  const duration = cellOf('duration');
  return {
    location: `line ${line}`,
    quiz: {
      question: cellOf('question'),
      choices: filled.map(cellOf),
      answer: cellOf('answer'),
      duration: duration === '' ? durationMs : parseWholeNumber(duration),
      ...(reveal !== '' && { reveal }),
    },
    fieldNames: Object.fromEntries(filled.map((name, index) => [`choices.${index}`, name])),
  };
}
