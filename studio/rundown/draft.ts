import { CHOICES_MIN } from '../../protocol/limits.ts';
import { type NewQuiz, newQuizSchema, type StudioQuiz } from '../../protocol/studio.ts';

/** A quiz as it is being written: not right yet, maybe. */
export interface Draft {
  readonly question: string;
  readonly choices: readonly string[];
  /** Which of the choices is right; null: not said yet. */
  readonly right: number | null;
  readonly durationMs: number;
  readonly isByHand: boolean;
}

/** What is wrong with a draft, by the field where it is seen. */
export interface DraftErrors {
  readonly question?: string;
  readonly choices: readonly (string | undefined)[];
  readonly right?: string;
  readonly duration?: string;
}

export const EMPTY_DRAFT: Draft = {
  question: '',
  choices: ['', '', ''],
  right: null,
  durationMs: 10_000,
  isByHand: false,
};

export function draftOf(quiz: StudioQuiz): Draft {
  return {
    question: quiz.question,
    choices: quiz.choices,
    right: quiz.choices.indexOf(quiz.answer),
    durationMs: quiz.duration,
    isByHand: quiz.reveal === 'manual',
  };
}

/** The choices that something was written into: empty lines at the end are no choices. */
function writtenOf({ choices }: Draft): string[] {
  const last = choices.findLastIndex((choice) => choice.trim() !== '');
  return choices.slice(0, Math.max(last + 1, CHOICES_MIN)).map((choice) => choice.trim());
}

/** The quiz that a draft is, or what is wrong with it. */
export function quizOf(
  draft: Draft,
): { readonly quiz: NewQuiz } | { readonly errors: DraftErrors } {
  const choices = writtenOf(draft);
  const answer = draft.right === null ? undefined : choices[draft.right];
  const parsed = newQuizSchema.safeParse({
    question: draft.question.trim(),
    choices,
    answer: answer ?? '',
    duration: draft.durationMs,
    reveal: draft.isByHand ? 'manual' : 'auto',
  });
  if (parsed.success && answer !== undefined) return { quiz: parsed.data };
  const errors: { -readonly [Name in keyof DraftErrors]: DraftErrors[Name] } = {
    choices: choices.map((choice, place) => choiceError(choices, choice, place)),
  };
  if (answer === undefined || answer === '') errors.right = 'Say which choice is right.';
  for (const { path, message } of parsed.error?.issues ?? []) {
    if (path[0] === 'question') errors.question ??= `The question ${message}.`;
    if (path[0] === 'duration') errors.duration ??= `The time ${message}.`;
    if (path[0] === 'choices' && typeof path[1] === 'number' && !errors.choices[path[1]]) {
      errors.choices = errors.choices.with(path[1], `This choice ${message}.`);
    }
  }
  return { errors };
}

function choiceError(
  choices: readonly string[],
  choice: string,
  place: number,
): string | undefined {
  if (choice === '') return 'Write a choice here, or take it away.';
  if (choices.indexOf(choice) !== place) return 'This choice is there already.';
  return undefined;
}
