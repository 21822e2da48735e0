import { QUIZZES_AT_ONCE } from '../../../../protocol/limits.ts';
import { Unreadable } from './entry.ts';

/** Reads JSON that a person chose as a file, so it may begin with a byte order mark. @throws Unreadable */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw new Unreadable('The text is not valid JSON.');
  }
}

/** A member of what may be an object; undefined when it is none or has no such member. */
export function memberOf(value: unknown, name: string): unknown {
  const isObject = value !== null && typeof value === 'object';
  return isObject && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
}

/**
 * The quizzes of a text, of which nothing is looked at yet.
 * @param where they should be, in words
 * @throws Unreadable when it is no array, or has too many
 */
export function quizzesIn(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Unreadable(`The text has no ${where}.`);
  if (value.length > QUIZZES_AT_ONCE) throw new Unreadable(tooMany(value.length));
  return value;
}

export const tooMany = (count: number | string) =>
  `The text has ${count} quizzes; at most ${QUIZZES_AT_ONCE} are taken at once.`;
