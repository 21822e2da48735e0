import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { EMPTY_DRAFT } from '../rundown/draft.ts';
import { QuizEditor } from '../rundown/quiz-editor.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { texts } from './texts.ts';

/** Adds a quiz to a show without drafts, in the place of the button that sends the next one. */
export function AddQuiz({ streamId }: { readonly streamId: string }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const { mutate, isPending } = useApiMutation('createQuiz', {
    invalidates: ['listQuizzes'],
    onSuccess: close,
  });
  return (
    <>
      <Button variant="primary" size="big" isWide icon={<Plus />} onPress={() => setOpen(true)}>
        {texts.next.addQuiz}
      </Button>
      <Dialog title={texts.next.newQuiz} isOpen={isOpen} onOpenChange={setOpen}>
        <QuizEditor
          initial={EMPTY_DRAFT}
          action={texts.next.add}
          isPending={isPending}
          onSubmit={(body) => mutate({ params: { stream_id: streamId }, body })}
          onCancel={close}
        />
      </Dialog>
    </>
  );
}
