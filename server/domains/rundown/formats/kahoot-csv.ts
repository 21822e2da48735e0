import { parseTable, parseWholeNumber, type Row, widthIssue } from './csv-table.ts';
import type { ImportIssue, QuizEntry, QuizReader } from './entry.ts';
import { collapseWhitespace, TEXT_CHARS_MAX } from './trivia-quiz.ts';

// Header cells of the template: "Question - max 120 characters", "Answer 1 - max 75 characters", …,
// "Time limit (sec) – 5, 10, 20, 30, 60, 90, 120, or 240 secs", "Correct answer(s) - choose at least one".
const QUESTION = /^question\b/i;
const ANSWER = /^answer (\d+)\b/i;
const TIME_LIMIT = /^time limit\b/i;
const CORRECT = /^correct answer/i;

const FIELD_NAMES = {
  question: 'Question',
  choices: 'answers',
  duration: 'Time limit in ms',
};

interface Columns {
  readonly question: number;
  /** Column indices by the number of the answer. */
  readonly answers: ReadonlyMap<number, number>;
  readonly timeLimit: number;
  readonly correct: number;
}

/** Reads the import template of Kahoot!, saved as CSV. Title rows precede its header. */
export const readKahootCsv: QuizReader = (text, durationMs) => {
  const table = parseTable(
    text,
    (cells) => findColumns(cells) !== null,
    'The text has no row with the columns Question, Answer 1, Answer 2 and Correct answer(s).',
  );
  const columns = findColumns(table.header.cells) as Columns;
  return table.rows
    .filter((row) => hasQuiz(row, columns))
    .map((row) => widthIssue(table, row) ?? readEntry(row, columns, durationMs));
};

function findColumns(cells: readonly string[]): Columns | null {
  const names = cells.map((cell) => cell.trim());
  const at = (pattern: RegExp) => names.findIndex((name) => pattern.test(name));
  const answers = new Map<number, number>();
  for (const [index, name] of names.entries()) {
    const number = Number(ANSWER.exec(name)?.[1]);
    if (number >= 1 && !answers.has(number)) answers.set(number, index);
  }
  const columns = {
    question: at(QUESTION),
    answers,
    timeLimit: at(TIME_LIMIT),
    correct: at(CORRECT),
  };
  const isHeader =
    columns.question >= 0 && columns.correct >= 0 && answers.has(1) && answers.has(2);
  return isHeader ? columns : null;
}

// The template numbers its rows, so that even a row without a quiz has a filled cell.
function hasQuiz({ cells }: Row, { question, answers, correct }: Columns): boolean {
  return [question, correct, ...answers.values()].some((at) => (cells[at] ?? '').trim() !== '');
}

function readEntry(
  { line, cells }: Row,
  columns: Columns,
  durationMs: number,
): QuizEntry | ImportIssue {
  const location = `line ${line}`;
  const cellOf = (at: number | undefined) =>
    String(collapseWhitespace((cells[at ?? -1] ?? '').trim()));
  const filled = [...columns.answers]
    .filter(([, at]) => cellOf(at) !== '')
    .sort(([a], [b]) => a - b);
  const numbers = numbersIn(cellOf(columns.correct));
  const field = 'Correct answer(s)';
  const [correct] = numbers;
  if (correct === undefined) {
    return { location, field, reason: 'must be the number of the correct answer' };
  }
  if (new Set(numbers).size > 1) {
    return {
      location,
      field,
      reason: `names ${numbers.join(' and ')}, and a quiz here has one correct answer`,
    };
  }
  if (!filled.some(([number]) => number === correct)) {
    return { location, field, reason: `is ${correct}, and there is no answer ${correct}` };
  }
  const timeLimit = parseWholeNumber(cellOf(columns.timeLimit));
  return {
    location,
    quiz: {
      question: cellOf(columns.question),
      choices: filled.map(([, at]) => cellOf(at)),
      answer: cellOf(columns.answers.get(correct)),
      duration: durationOf(timeLimit, durationMs),
    },
    fieldNames: {
      ...FIELD_NAMES,
      answer: `Answer ${correct}`,
      ...Object.fromEntries(
        filled.map(([number], index) => [`choices.${index}`, `Answer ${number}`]),
      ),
    },
  };
}

/** The numbers in a text; none in one that is too long. */
function numbersIn(cell: string): number[] {
  if (cell.length > TEXT_CHARS_MAX) return [];
  return cell.match(/\d+/g)?.map(Number) ?? [];
}

function durationOf(timeLimitS: number | string, durationMs: number): number | string {
  if (timeLimitS === '') return durationMs;
  return typeof timeLimitS === 'number' ? timeLimitS * 1_000 : timeLimitS;
}
