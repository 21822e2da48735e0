import { CHOICES_MIN } from '../../protocol/limits.ts';
import {
  type NewQuiz,
  newQuizSchema,
  type QuizPatch,
  type StudioQuiz,
} from '../../protocol/studio.ts';
import { changedFields } from '../ui/changed-fields.ts';
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

/** The quiz of a draft, which may be invalid; its answer is empty while there is none. */
function quizOf(draft: Draft): NewQuiz {
  const choices = filledChoicesOf(draft);
  return {
    question: draft.question.trim(),
    choices,
    answer: draft.correctIndex === null ? '' : (choices[draft.correctIndex] ?? ''),
    duration: draft.durationMs,
    reveal: draft.isManualReveal ? 'manual' : 'auto',
  };
}

/**
 * What the editor changed in a quiz; null: nothing. Question, choices and answer are saved together: with
 * those that another host changed meanwhile they might be a quiz that neither of them saw.
 * @param quiz as it was when the editor opened
 */
export function quizChanges(quiz: StudioQuiz, edited: NewQuiz): QuizPatch | null {
  const changes = changedFields(quizOf(draftOf(quiz)), edited);
  const { question, choices, answer } = edited;
  const isChanged =
    changes && ('question' in changes || 'choices' in changes || 'answer' in changes);
  return isChanged ? { ...changes, question, choices, answer } : changes;
}

/** Validates a draft. @returns the quiz, or the errors */
export function validateDraft(
  draft: Draft,
): { readonly quiz: NewQuiz } | { readonly errors: DraftErrors } {
  const { choices, answer, ...rest } = quizOf(draft);
  const parsed = newQuizSchema.safeParse({ choices, answer, ...rest });
  if (parsed.success) return { quiz: parsed.data };
  const errors: { -readonly [Name in keyof DraftErrors]: DraftErrors[Name] } = {
    choices: choices.map((choice, index) => choiceError(choices, choice, index)),
  };
  if (answer === '') errors.correctChoice = texts.errors.noCorrectChoice;
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
