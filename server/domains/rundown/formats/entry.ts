import type { NewQuiz } from '../../../../protocol/studio.ts';

/** One quiz as parsed from a text, before validation. */
export interface QuizEntry {
  /** Its location, counted from 1: `line 7` of CSV, `quiz 3` of JSON. */
  readonly location: string;
  readonly quiz: { readonly [Member in keyof NewQuiz]?: unknown };
  /** Names of fields in the text by their path in the quiz; other fields have the same name. */
  readonly fieldNames?: Readonly<Record<string, string>>;
  /** The correct choice is the first, so the choices must be shuffled. */
  readonly answerIsFirst?: boolean;
}

/** The reason why one quiz of a text cannot be imported. */
export interface ImportIssue {
  readonly location: string;
  /** The name of the field in the text; null: the whole quiz. */
  readonly field: string | null;
  readonly reason: string;
}

export const isIssue = (item: QuizEntry | ImportIssue): item is ImportIssue => 'reason' in item;

/** The text is not of the expected format; the message is a sentence for the user. */
export class UnreadableText extends Error {}

/**
 * Parses a text of one format.
 * @param durationMs time limit of quizzes for which the text has none
 * @throws UnreadableText
 */
export type QuizReader = (text: string, durationMs: number) => readonly (QuizEntry | ImportIssue)[];
