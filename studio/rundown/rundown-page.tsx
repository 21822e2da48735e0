import { ListChecks, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { NewQuiz, StudioQuiz } from '../../protocol/studio.ts';
import { useRead } from '../api/use-read.ts';
import { useWrite } from '../api/use-write.ts';
import { StreamPage } from '../streams/stream-page.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { Menu } from '../ui/menu.tsx';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { draftOf, EMPTY_DRAFT } from './draft.ts';
import { QuizEditor } from './quiz-editor.tsx';

/** The quizzes of a show, as they are to come. */
export function RundownPage({ streamId }: { readonly streamId: string }) {
  const quizzes = useRead('listQuizzes', { params: { stream_id: streamId } });
  const [edited, setEdited] = useState<StudioQuiz | 'new' | null>(null);
  return (
    <StreamPage
      streamId={streamId}
      actions={() => (
        <Button look="primary" onPress={() => setEdited('new')}>
          <Plus aria-hidden="true" />
          New quiz
        </Button>
      )}
    >
      {() => (
        <>
          {quizzes.isPending && <Loading what="Looking for the quizzes" />}
          {quizzes.isError && !quizzes.data && (
            <Failure error={quizzes.error} onAgain={() => quizzes.refetch()} />
          )}
          {quizzes.data?.results.length === 0 && (
            <Empty icon={<ListChecks aria-hidden="true" />} title="No quizzes yet">
              Write them before the show; on air each is one press of a button.
            </Empty>
          )}
          {quizzes.data && <QuizList quizzes={quizzes.data.results} onEdit={setEdited} />}
          <EditorDialog streamId={streamId} edited={edited} onEnd={() => setEdited(null)} />
        </>
      )}
    </StreamPage>
  );
}

interface QuizListProps {
  readonly quizzes: readonly StudioQuiz[];
  readonly onEdit: (quiz: StudioQuiz) => void;
}

const STATES = {
  draft: null,
  open: <Badge look="live">Open</Badge>,
  closed: <Badge look="accent">Closed</Badge>,
  revealed: <Badge>Shown</Badge>,
} as const;

function QuizList({ quizzes, onEdit }: QuizListProps) {
  const [dropped, setDropped] = useState<StudioQuiz | null>(null);
  const { write, isPending } = useWrite('deleteQuiz', {
    stale: ['listQuizzes'],
    onDone: () => setDropped(null),
  });
  if (quizzes.length === 0) return null;
  return (
    <>
      <ol className="grid divide-y divide-line rounded-2xl border border-line bg-card">
        {quizzes.map((quiz, place) => (
          <li key={quiz.id} className="flex items-start gap-4 p-4">
            <span className="w-7 shrink-0 text-right text-quiet tabular-nums">{place + 1}</span>
            <div className="grid min-w-0 flex-1 gap-1">
              <span className="font-semibold break-words">{quiz.question}</span>
              <span className="text-sm break-words text-quiet">
                {quiz.choices.length} choices · {quiz.duration / 1_000} s · right: {quiz.answer}
              </span>
            </div>
            {STATES[quiz.state]}
            {quiz.state === 'draft' && (
              <Menu
                label={`What to do with “${quiz.question}”`}
                actions={[
                  { text: 'Change', icon: <Pencil />, onAction: () => onEdit(quiz) },
                  {
                    text: 'Delete',
                    icon: <Trash2 />,
                    onAction: () => setDropped(quiz),
                    isDangerous: true,
                  },
                ]}
              />
            )}
          </li>
        ))}
      </ol>
      <Confirm
        title="Delete the quiz?"
        action="Delete"
        isOpen={dropped !== null}
        onOpenChange={() => setDropped(null)}
        isPending={isPending}
        onConfirm={() => dropped && write({ params: { quiz_id: dropped.id } })}
      >
        {dropped?.question}
      </Confirm>
    </>
  );
}

interface EditorDialogProps {
  readonly streamId: string;
  readonly edited: StudioQuiz | 'new' | null;
  readonly onEnd: () => void;
}

function EditorDialog({ streamId, edited, onEnd }: EditorDialogProps) {
  const create = useWrite('createQuiz', { stale: ['listQuizzes'], onDone: onEnd });
  const patch = useWrite('patchQuiz', { stale: ['listQuizzes'], onDone: onEnd });
  const isNew = edited === 'new';
  const keep = (body: NewQuiz) =>
    isNew
      ? create.write({ params: { stream_id: streamId }, body })
      : edited && patch.write({ params: { quiz_id: edited.id }, body });
  return (
    <Dialog
      title={isNew ? 'New quiz' : 'Change the quiz'}
      isOpen={edited !== null}
      onOpenChange={onEnd}
    >
      {edited !== null && (
        <QuizEditor
          initial={edited === 'new' ? EMPTY_DRAFT : draftOf(edited)}
          action={isNew ? 'Add it' : 'Keep'}
          isPending={create.isPending || patch.isPending}
          onSubmit={keep}
          onCancel={onEnd}
        />
      )}
    </Dialog>
  );
}
