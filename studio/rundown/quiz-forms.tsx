import type { NewQuiz, StudioQuiz } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { draftOf, EMPTY_DRAFT, quizChanges } from './draft.ts';
import { QuizEditor } from './quiz-editor.tsx';
import { texts } from './texts.ts';

const INVALIDATED = ['listQuizzes'] as const;

interface NewQuizFormProps {
  readonly streamId: string;
  readonly onClose: () => void;
}

/** Adds a quiz to the end of the rundown. */
export function NewQuizForm({ streamId, onClose }: NewQuizFormProps) {
  const { mutate, isPending } = useApiMutation('createQuiz', {
    invalidates: INVALIDATED,
    onSuccess: onClose,
  });
  return (
    <QuizEditor
      initial={EMPTY_DRAFT}
      action={texts.editor.add}
      isPending={isPending}
      onSubmit={(body) => mutate({ params: { stream_id: streamId }, body })}
      onCancel={onClose}
    />
  );
}

interface EditQuizFormProps {
  /** As it was when the form opened. */
  readonly quiz: StudioQuiz;
  readonly onClose: () => void;
}

export function EditQuizForm({ quiz, onClose }: EditQuizFormProps) {
  const { mutate, isPending } = useApiMutation('patchQuiz', {
    invalidates: INVALIDATED,
    onSuccess: onClose,
  });
  const save = (edited: NewQuiz) => {
    const body = quizChanges(quiz, edited);
    if (body) mutate({ params: { quiz_id: quiz.id }, body });
    else onClose();
  };
  return (
    <QuizEditor
      initial={draftOf(quiz)}
      action={texts.editor.save}
      isPending={isPending}
      onSubmit={save}
      onCancel={onClose}
    />
  );
}
