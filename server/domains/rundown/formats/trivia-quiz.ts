import { CHOICES_MAX } from '../../../../protocol/limits.ts';
import type { Entry } from './entry.ts';

/** What trivia sets call their members. */
export interface TriviaNames {
  readonly question: string;
  readonly correct: string;
  readonly incorrect: string;
}

interface TriviaQuiz {
  readonly question: unknown;
  readonly correct: unknown;
  readonly incorrect: unknown;
}

/** Runs of white space are one space: these texts were written for pages, where they look the same. */
export function oneLine(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : value;
}

/** A quiz of a set that has the right answer apart from the wrong ones, and no time limits. */
export function triviaEntry(
  place: string,
  quiz: TriviaQuiz,
  names: TriviaNames,
  durationMs: number,
): Entry {
  // Too many stay too many.
  const wrong = Array.isArray(quiz.incorrect) ? quiz.incorrect.slice(0, CHOICES_MAX) : [];
  const choices = [quiz.correct, ...wrong].map(oneLine);
  const nameOf = (index: number) => (index === 0 ? names.correct : `${names.incorrect} ${index}`);
  return {
    place,
    quiz: {
      question: oneLine(quiz.question),
      choices,
      answer: choices[0],
      duration: durationMs,
    },
    names: {
      question: names.question,
      answer: names.correct,
      choices: names.incorrect,
      ...Object.fromEntries(choices.map((_, index) => [`choices.${index}`, nameOf(index)])),
    },
    answerIsFirst: true,
  };
}
