import type { NewQuiz } from '../../../../protocol/studio.ts';

/** What a text says of one quiz. It may still be wrong: it has yet to be validated. */
export interface Entry {
  /** Where it stands, counted from 1: `line 7` of CSV, `quiz 3` of JSON. */
  readonly place: string;
  readonly quiz: { readonly [Member in keyof NewQuiz]?: unknown };
  /** What the text calls the members of the quiz, by their path; others are called as they are. */
  readonly names?: Readonly<Record<string, string>>;
  /** The right choice stands first, so the choices must not be shown in this order. */
  readonly answerIsFirst?: boolean;
}

/** What keeps one quiz of a text from being read. */
export interface Flaw {
  readonly place: string;
  /** What is wrong there, as the text calls it; null: all of it. */
  readonly field: string | null;
  readonly reason: string;
}

export const isFlaw = (found: Entry | Flaw): found is Flaw => 'reason' in found;

/** A text that is not of its format at all; the message is a sentence that says why. */
export class Unreadable extends Error {}

/**
 * Reads a text of one format.
 * @param durationMs of quizzes for which the text has none
 * @throws Unreadable
 */
export type Reader = (text: string, durationMs: number) => readonly (Entry | Flaw)[];
