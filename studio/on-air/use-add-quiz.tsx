import { type ReactNode, useState } from 'react';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { EMPTY_DRAFT } from '../rundown/draft.ts';
import { QuizEditor } from '../rundown/quiz-editor.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { texts } from './texts.ts';

interface AddQuiz {
  readonly open: () => void;
  /** To be rendered whatever the step of the show is: an open one has what the host typed. */
  readonly dialog: ReactNode;
}

/** Adds a quiz to the end of the rundown. */
export function useAddQuiz(streamId: string): AddQuiz {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const { mutate, isPending } = useApiMutation('createQuiz', {
    invalidates: ['listQuizzes'],
    onSuccess: close,
  });
  return {
    open: () => setOpen(true),
    dialog: (
      <Dialog title={texts.next.newQuiz} isOpen={isOpen} onOpenChange={setOpen}>
        <QuizEditor
          initial={EMPTY_DRAFT}
          action={texts.next.add}
          isPending={isPending}
          onSubmit={(body) => mutate({ params: { stream_id: streamId }, body })}
          onCancel={close}
        />
      </Dialog>
    ),
  };
}
