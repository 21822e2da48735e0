import { phrase } from '../../../protocol/issues.ts';
import { CHOICES_MAX, QUIZZES_AT_ONCE } from '../../../protocol/limits.ts';
import type { ImportFormat } from '../../../protocol/rundown.ts';
import { type NewQuiz, newQuizSchema } from '../../../protocol/studio.ts';
import { type Entry, type Flaw, isFlaw, type Reader, Unreadable } from './formats/entry.ts';
import { readFourbeatCsv } from './formats/fourbeat-csv.ts';
import { readFourbeatJson } from './formats/fourbeat-json.ts';
import { tooMany } from './formats/json-text.ts';
import { readKahootCsv } from './formats/kahoot-csv.ts';
import { readOpenTriviaDb } from './formats/opentdb.ts';
import { readTheTriviaApi } from './formats/the-trivia-api.ts';

const READERS: Readonly<Record<ImportFormat, Reader>> = {
  'fourbeat-json': readFourbeatJson,
  'fourbeat-csv': readFourbeatCsv,
  opentdb: readOpenTriviaDb,
  'the-trivia-api': readTheTriviaApi,
  'kahoot-csv': readKahootCsv,
};

/** Most flaws that are told of one text, and most characters of the reason of each. */
const FLAWS_MAX = 100;
const REASON_CHARS = 200;
/** Most flaws in the one sentence about all of them. */
const NAMED_MAX = 3;

/** A text from which no quizzes can be made; the message names the first things that are wrong. */
export class WrongText extends Error {
  /** @param flaws one line each */
  constructor(readonly flaws: readonly string[]) {
    const more = flaws.length - NAMED_MAX;
    super(flaws.slice(0, NAMED_MAX).join('; ') + (more > 0 ? `; and ${more} more` : ''));
  }
}

export interface Reading {
  readonly format: ImportFormat;
  readonly text: string;
  /** Time limit in ms of quizzes for which the text has none. */
  readonly duration: number;
  /** A whole number from 0 to below `n` that nobody can guess: it decides where right answers stand. */
  readonly randomBelow: (n: number) => number;
}

/**
 * The quizzes in a text, in its order.
 * @throws WrongText when one of them is wrong, or there is none or too many
 */
export function readQuizzes({ format, text, duration, randomBelow }: Reading): NewQuiz[] {
  const found = entriesOf(format, text, duration);
  if (found.length === 0) throw new WrongText(['The text has no quizzes.']);
  if (found.length > QUIZZES_AT_ONCE) throw new WrongText([tooMany(found.length)]);
  const quizzes: NewQuiz[] = [];
  const flaws: string[] = [];
  for (const entry of found) {
    const quiz = isFlaw(entry) ? [entry] : quizOf(entry, randomBelow);
    if (Array.isArray(quiz)) flaws.push(...quiz.map(told));
    else quizzes.push(quiz);
    if (flaws.length >= FLAWS_MAX) break;
  }
  if (flaws.length > 0) throw new WrongText(flaws.slice(0, FLAWS_MAX));
  return quizzes;
}

function entriesOf(format: ImportFormat, text: string, duration: number) {
  try {
    return READERS[format](text, duration);
  } catch (error) {
    if (error instanceof Unreadable) throw new WrongText([error.message]);
    throw error;
  }
}

function quizOf(entry: Entry, randomBelow: Reading['randomBelow']): NewQuiz | Flaw[] {
  const quiz = validated(entry);
  if (Array.isArray(quiz) || !entry.answerIsFirst) return quiz;
  return { ...quiz, choices: shuffled(quiz.choices, randomBelow) };
}

function validated({ place, quiz, names = {} }: Entry): NewQuiz | Flaw[] {
  // Each element is validated before their number: here nothing else bounds it.
  if (Array.isArray(quiz.choices) && quiz.choices.length > CHOICES_MAX) {
    const reason = `must have at most ${CHOICES_MAX} elements`;
    return [{ place, field: names.choices ?? 'choices', reason }];
  }
  const result = newQuizSchema.safeParse(quiz, { error: phrase });
  if (result.success) return result.data;
  const byField = new Map<string, Flaw>();
  for (const { path, message } of result.error.issues) {
    const member = path.join('.');
    const field = names[member] ?? member;
    if (!byField.has(field)) byField.set(field, { place, field: field || null, reason: message });
  }
  return [...byField.values()];
}

function told({ place, field, reason }: Flaw): string {
  const where = field === null ? place : `${place}, ${field}`;
  return `${where}: ${reason.slice(0, REASON_CHARS)}`;
}

/** The items in an order of which each is as likely (Fisher and Yates). */
function shuffled<T>(items: readonly T[], randomBelow: Reading['randomBelow']): T[] {
  const mixed = [...items];
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = randomBelow(last + 1);
    [mixed[last], mixed[other]] = [mixed[other] as T, mixed[last] as T];
  }
  return mixed;
}
