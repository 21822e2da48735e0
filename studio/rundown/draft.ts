import { CHOICES_MIN } from '../../protocol/limits.ts';
import { type NewQuiz, newQuizSchema, type StudioQuiz } from '../../protocol/studio.ts';
import { texts } from './texts.ts';

/** A quiz while it is edited; it may be invalid. */
export interface Draft {
  readonly question: string;
  readonly choices: readonly string[];
  /** Index of the correct choice; null: not selected yet. */
  readonly correctIndex: number | null;
  readonly durationMs: number;
  readonly isManualReveal: boolean;
}

/** Errors by form field. */
export interface DraftErrors {
  readonly question?: string;
  readonly choices: readonly (string | undefined)[];
  readonly correctChoice?: string;
  readonly duration?: string;
}

export const EMPTY_DRAFT: Draft = {
  question: '',
  choices: ['', '', ''],
  correctIndex: null,
  durationMs: 10_000,
  isManualReveal: false,
};

export function draftOf(quiz: StudioQuiz): Draft {
  return {
    question: quiz.question,
    choices: quiz.choices,
    correctIndex: quiz.choices.indexOf(quiz.answer),
    durationMs: quiz.duration,
    isManualReveal: quiz.reveal === 'manual',
  };
}

/** The choices without empty ones at the end. */
function filledChoicesOf({ choices }: Draft): string[] {
  const last = choices.findLastIndex((choice) => choice.trim() !== '');
  return choices.slice(0, Math.max(last + 1, CHOICES_MIN)).map((choice) => choice.trim());
}

/** Validates a draft. @returns the quiz, or the errors */
export function validateDraft(
  draft: Draft,
): { readonly quiz: NewQuiz } | { readonly errors: DraftErrors } {
  const choices = filledChoicesOf(draft);
  const answer = draft.correctIndex === null ? undefined : choices[draft.correctIndex];
  const parsed = newQuizSchema.safeParse({
    question: draft.question.trim(),
    choices,
    answer: answer ?? '',
    duration: draft.durationMs,
    reveal: draft.isManualReveal ? 'manual' : 'auto',
  });
  if (parsed.success && answer !== undefined) return { quiz: parsed.data };
  const errors: { -readonly [Name in keyof DraftErrors]: DraftErrors[Name] } = {
    choices: choices.map((choice, index) => choiceError(choices, choice, index)),
  };
  if (answer === undefined || answer === '') errors.correctChoice = texts.errors.noCorrectChoice;
  for (const { path, message } of parsed.error?.issues ?? []) {
    if (path[0] === 'question') errors.question ??= texts.errors.question(message);
    if (path[0] === 'duration') errors.duration ??= texts.errors.time(message);
    if (path[0] === 'choices' && typeof path[1] === 'number' && !errors.choices[path[1]]) {
      errors.choices = errors.choices.with(path[1], texts.errors.choice(message));
    }
  }
  return { errors };
}

function choiceError(
  choices: readonly string[],
  choice: string,
  index: number,
): string | undefined {
  if (choice === '') return texts.errors.emptyChoice;
  if (choices.indexOf(choice) !== index) return texts.errors.sameChoice;
  return undefined;
}
