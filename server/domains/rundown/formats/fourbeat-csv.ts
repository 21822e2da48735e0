import { CHOICES_MAX } from '../../../../protocol/limits.ts';
import { flawOfWidth, numberOf, type Row, type Table, tableOf } from './csv-table.ts';
import { type Entry, type Flaw, type Reader, Unreadable } from './entry.ts';
import { unguarded } from './formula-guard.ts';

/** Names of the columns of choices, in their order. */
export const CHOICE_COLUMNS = Array.from(
  { length: CHOICES_MAX },
  (_, index) => `choice ${index + 1}`,
);
/** Names of all columns, as they are written. */
export const COLUMNS = ['question', ...CHOICE_COLUMNS, 'answer', 'duration', 'reveal'];

const NEEDED = ['question', 'choice 1', 'choice 2', 'answer'];

const named = (cell: string) => cell.trim().toLowerCase();

/** What `exportQuizzes` gives as CSV. Columns may stand in any order; some may be left out. */
export const readFourbeatCsv: Reader = (text, durationMs) => {
  const isHeader = (cells: readonly string[]) =>
    NEEDED.every((name) => cells.map(named).includes(name));
  const table = tableOf(
    text,
    isHeader,
    `The text has no row with the columns ${NEEDED.join(', ')}.`,
  );
  const columns = columnsOf(table.header);
  return table.rows.map((row) => flawOfWidth(table, row) ?? entryOf(row, columns, durationMs));
};

/** Where each column is. What would be lost is refused: a misspelt column is not left out silently. */
function columnsOf({ cells, line }: Table['header']): ReadonlyMap<string, number> {
  const columns = new Map<string, number>();
  for (const [index, cell] of cells.entries()) {
    const name = named(cell);
    if (name === '') continue;
    if (!COLUMNS.includes(name))
      throw new Unreadable(`line ${line}: unknown column "${cell.trim().slice(0, 100)}".`);
    if (columns.has(name)) throw new Unreadable(`line ${line}: two columns "${name}".`);
    columns.set(name, index);
  }
  return columns;
}

function entryOf(
  { line, cells }: Row,
  columns: ReadonlyMap<string, number>,
  durationMs: number,
): Entry | Flaw {
  const cellOf = (name: string) => unguarded(cells[columns.get(name) ?? -1] ?? '');
  const filled = CHOICE_COLUMNS.filter((name) => cellOf(name) !== '');
  const reveal = cellOf('reveal');
  const duration = cellOf('duration');
  return {
    place: `line ${line}`,
    quiz: {
      question: cellOf('question'),
      choices: filled.map(cellOf),
      answer: cellOf('answer'),
      duration: duration === '' ? durationMs : numberOf(duration),
      ...(reveal !== '' && { reveal }),
    },
    names: Object.fromEntries(filled.map((name, index) => [`choices.${index}`, name])),
  };
}
