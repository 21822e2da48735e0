import { flawOfWidth, numberOf, type Row, tableOf } from './csv-table.ts';
import type { Entry, Flaw, Reader } from './entry.ts';
import { oneLine } from './trivia-quiz.ts';

// As the template has them: "Question - max 120 characters", "Answer 1 - max 75 characters", …,
// "Time limit (sec) – 5, 10, 20, 30, 60, 90, 120, or 240 secs", "Correct answer(s) - choose at least one".
const QUESTION = /^question\b/i;
const ANSWER = /^answer (\d+)\b/i;
const TIME_LIMIT = /^time limit\b/i;
const CORRECT = /^correct answer/i;

const FIELDS = {
  question: 'Question',
  choices: 'answers',
  duration: 'Time limit in ms',
};

interface Columns {
  readonly question: number;
  /** By the number of the answer. */
  readonly answers: ReadonlyMap<number, number>;
  readonly timeLimit: number;
  readonly correct: number;
}

/** The sheet that Kahoot! imports questions from, saved as CSV. Its header follows rows of a title. */
export const readKahootCsv: Reader = (text, durationMs) => {
  const table = tableOf(
    text,
    (cells) => columnsOf(cells) !== null,
    'The text has no row with the columns Question, Answer 1, Answer 2 and Correct answer(s).',
  );
  const columns = columnsOf(table.header.cells) as Columns;
  return table.rows
    .filter((row) => hasQuiz(row, columns))
    .map((row) => flawOfWidth(table, row) ?? entryOf(row, columns, durationMs));
};

function columnsOf(cells: readonly string[]): Columns | null {
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

// The template numbers its rows, also those that nobody filled in.
function hasQuiz({ cells }: Row, { question, answers, correct }: Columns): boolean {
  return [question, correct, ...answers.values()].some((at) => (cells[at] ?? '').trim() !== '');
}

function entryOf({ line, cells }: Row, columns: Columns, durationMs: number): Entry | Flaw {
  const place = `line ${line}`;
  const cellOf = (at: number | undefined) => String(oneLine(cells[at ?? -1] ?? ''));
  const filled = [...columns.answers]
    .filter(([, at]) => cellOf(at) !== '')
    .sort(([a], [b]) => a - b);
  const numbers = cellOf(columns.correct).match(/\d+/g)?.map(Number) ?? [];
  const field = 'Correct answer(s)';
  const [correct] = numbers;
  if (correct === undefined) {
    return { place, field, reason: 'must be the number of the correct answer' };
  }
  if (new Set(numbers).size > 1) {
    return {
      place,
      field,
      reason: `names ${numbers.join(' and ')}, and a quiz here has one correct answer`,
    };
  }
  if (!filled.some(([number]) => number === correct)) {
    return { place, field, reason: `is ${correct}, and there is no answer ${correct}` };
  }
  const timeLimit = numberOf(cellOf(columns.timeLimit));
  return {
    place,
    quiz: {
      question: cellOf(columns.question),
      choices: filled.map(([, at]) => cellOf(at)),
      answer: cellOf(columns.answers.get(correct)),
      duration: durationOf(timeLimit, durationMs),
    },
    names: {
      ...FIELDS,
      answer: `Answer ${correct}`,
      ...Object.fromEntries(
        filled.map(([number], index) => [`choices.${index}`, `Answer ${number}`]),
      ),
    },
  };
}

function durationOf(timeLimitS: number | string, durationMs: number): number | string {
  if (timeLimitS === '') return durationMs;
  return typeof timeLimitS === 'number' ? timeLimitS * 1_000 : timeLimitS;
}
