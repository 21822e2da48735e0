import { CHOICES_MAX } from '../../../../protocol/limits.ts';
import type { QuizEntry } from './entry.ts';

/** Names of the fields of a trivia question in its source. */
export interface TriviaFieldNames {
  readonly question: string;
  readonly correct: string;
  readonly incorrect: string;
}

interface TriviaQuiz {
  readonly question: unknown;
  readonly correct: unknown;
  readonly incorrect: unknown;
}

/** Longer texts, which no quiz can have, are not read further: 1 MB took 200 ms. */
export const TEXT_CHARS_MAX = 1_000;

/**
 * Collapses white space as HTML does, for which these texts were written. Other values, and texts that are too long,
 * are returned unchanged.
 */
export function collapseWhitespace(value: unknown): unknown {
  const isText = typeof value === 'string' && value.length <= TEXT_CHARS_MAX;
  return isText ? value.replace(/\s+/g, ' ').trim() : value;
}

/** Makes an entry of a trivia question, whose correct answer is separate and which has no time limit. */
export function triviaEntry(
  location: string,
  quiz: TriviaQuiz,
  names: TriviaFieldNames,
  durationMs: number,
): QuizEntry {
  // A cut list and the correct answer exceed the maximum by one, so that validation rejects them.
  const wrong = Array.isArray(quiz.incorrect) ? quiz.incorrect.slice(0, CHOICES_MAX) : [];
  const choices = [quiz.correct, ...wrong].map(collapseWhitespace);
  const nameOf = (index: number) => (index === 0 ? names.correct : `${names.incorrect} ${index}`);
  return {
    location,
    quiz: {
      question: collapseWhitespace(quiz.question),
      choices,
      answer: choices[0],
      duration: durationMs,
    },
    fieldNames: {
      question: names.question,
      answer: names.correct,
      choices: names.incorrect,
      ...Object.fromEntries(choices.map((_, index) => [`choices.${index}`, nameOf(index)])),
    },
    answerIsFirst: true,
  };
}
