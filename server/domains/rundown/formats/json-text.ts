import {
  IMPORT_JSON_COMMAS,
  JSON_DEPTH,
  JSON_INDEXES,
  QUIZZES_PER_IMPORT_MAX,
} from '../../../../protocol/limits.ts';
import { scanJson } from '../../../platform/scan-json.ts';
import { UnreadableText } from './entry.ts';

/** Parses the JSON of a file, which may begin with a byte order mark. @throws UnreadableText */
export function parseJson(text: string): unknown {
  const scan = scanJson(text, JSON_DEPTH);
  if (!scan) throw new UnreadableText(`The text is nested deeper than ${JSON_DEPTH} levels.`);
  // A quiz with 98,909 members took 200 ms of the event loop.
  if (scan.commas > IMPORT_JSON_COMMAS) {
    throw new UnreadableText(
      `The text has more than ${IMPORT_JSON_COMMAS} members and elements; an import has at most ${QUIZZES_PER_IMPORT_MAX} quizzes.`,
    );
  }
  if (scan.indexes > JSON_INDEXES)
    throw new UnreadableText('The text has too many member names that are numbers such as 999.');
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw new UnreadableText('The text is not valid JSON.');
  }
}

/** A member of a value; undefined when the value is no object or has no such member. */
export function memberOf(value: unknown, name: string): unknown {
  const isObject = value !== null && typeof value === 'object';
  return isObject && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

/**
 * Checks that a value is an array of at most the quizzes of one import.
 * @param expected names the expected value in the error text
 * @throws UnreadableText
 */
export function requireQuizArray(value: unknown, expected: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new UnreadableText(`The text has no ${expected}.`);
  if (value.length > QUIZZES_PER_IMPORT_MAX) throw new UnreadableText(tooManyQuizzes(value.length));
  return value;
}

export const tooManyQuizzes = (count: number | string) =>
  `The text has ${count} quizzes; at most ${QUIZZES_PER_IMPORT_MAX} are taken at once.`;
