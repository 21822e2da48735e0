import { describeIssue } from '../../../protocol/issues.ts';
import { CHOICES_MAX, QUIZZES_PER_IMPORT_MAX } from '../../../protocol/limits.ts';
import type { ImportFormat } from '../../../protocol/rundown.ts';
import { type NewQuiz, newQuizSchema } from '../../../protocol/studio.ts';
import {
  type ImportIssue,
  isIssue,
  type QuizEntry,
  type QuizReader,
  UnreadableText,
} from './formats/entry.ts';
import { readFourbeatCsv } from './formats/fourbeat-csv.ts';
import { readFourbeatJson } from './formats/fourbeat-json.ts';
import { tooManyQuizzes } from './formats/json-text.ts';
import { readKahootCsv } from './formats/kahoot-csv.ts';
import { readOpenTriviaDb } from './formats/opentdb.ts';
import { readTheTriviaApi } from './formats/the-trivia-api.ts';

const READERS: Readonly<Record<ImportFormat, QuizReader>> = {
  'fourbeat-json': readFourbeatJson,
  'fourbeat-csv': readFourbeatCsv,
  opentdb: readOpenTriviaDb,
  'the-trivia-api': readTheTriviaApi,
  'kahoot-csv': readKahootCsv,
};

/** Most issues reported for one text, and most characters of the reason of each. */
const ISSUES_MAX = 100;
const REASON_CHARS = 200;
/** Most issues in the error message. */
const ISSUES_IN_MESSAGE = 3;

/** A text that cannot be imported; the message has the first issues. */
export class ImportError extends Error {
  /** @param issues one sentence each */
  constructor(readonly issues: readonly string[]) {
    const more = issues.length - ISSUES_IN_MESSAGE;
    super(issues.slice(0, ISSUES_IN_MESSAGE).join('; ') + (more > 0 ? `; and ${more} more` : ''));
  }
}

export interface ImportInput {
  readonly format: ImportFormat;
  readonly text: string;
  /** Time limit of quizzes for which the text has none, ms. */
  readonly duration: number;
  /** An unpredictable whole number from 0 to below `n`; it decides on positions of correct answers. */
  readonly randomBelow: (n: number) => number;
}

/**
 * Parses the quizzes of a text, in its order.
 * @throws ImportError when a quiz is invalid, or there is none or too many
 */
export function readQuizzes({ format, text, duration, randomBelow }: ImportInput): NewQuiz[] {
  const entries = parseEntries(format, text, duration);
  if (entries.length === 0) throw new ImportError(['The text has no quizzes.']);
  if (entries.length > QUIZZES_PER_IMPORT_MAX)
    throw new ImportError([tooManyQuizzes(entries.length)]);
  const quizzes: NewQuiz[] = [];
  const issues: string[] = [];
  for (const entry of entries) {
    const quizOrIssues = isIssue(entry) ? [entry] : quizOf(entry, randomBelow);
    if (Array.isArray(quizOrIssues)) issues.push(...quizOrIssues.map(issueText));
    else quizzes.push(quizOrIssues);
    if (issues.length >= ISSUES_MAX) break;
  }
  if (issues.length > 0) throw new ImportError(issues.slice(0, ISSUES_MAX));
  return quizzes;
}

function parseEntries(format: ImportFormat, text: string, duration: number) {
  try {
    return READERS[format](text, duration);
  } catch (error) {
    if (error instanceof UnreadableText) throw new ImportError([error.message]);
    throw error;
  }
}

function quizOf(
  entry: QuizEntry,
  randomBelow: ImportInput['randomBelow'],
): NewQuiz | ImportIssue[] {
  const quiz = validateEntry(entry);
  if (Array.isArray(quiz) || !entry.answerIsFirst) return quiz;
  return { ...quiz, choices: shuffled(quiz.choices, randomBelow) };
}

function validateEntry({ location, quiz, fieldNames = {} }: QuizEntry): NewQuiz | ImportIssue[] {
  // The schema validates every element before it checks their number, which nothing else limits here.
  if (Array.isArray(quiz.choices) && quiz.choices.length > CHOICES_MAX) {
    const reason = `must have at most ${CHOICES_MAX} elements`;
    return [{ location, field: fieldNames.choices ?? 'choices', reason }];
  }
  const result = newQuizSchema.safeParse(quiz, { error: describeIssue });
  if (result.success) return result.data;
  const byField = new Map<string, ImportIssue>();
  for (const { path, message } of result.error.issues) {
    const member = path.join('.');
    const field = fieldNames[member] ?? member;
    if (!byField.has(field))
      byField.set(field, { location, field: field || null, reason: message });
  }
  return [...byField.values()];
}

function issueText({ location, field, reason }: ImportIssue): string {
  const source = field === null ? location : `${location}, ${field}`;
  return `${source}: ${reason.slice(0, REASON_CHARS)}`;
}

/** A uniformly random permutation of the items (Fisher–Yates). */
function shuffled<T>(items: readonly T[], randomBelow: ImportInput['randomBelow']): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = randomBelow(last + 1);
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}
