import { Download, FileUp, ListChecks, Plus } from 'lucide-react';
import { useState } from 'react';
import type { NewQuiz, StudioQuiz } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { usePermission } from '../session/session-context.ts';
import { StreamPage } from '../streams/stream-page.tsx';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Dialog, DialogButton } from '../ui/dialog.tsx';
import { EmptyState, Loaded } from '../ui/states.tsx';
import { draftOf, EMPTY_DRAFT, quizChanges } from './draft.ts';
import { ImportForm } from './import-form.tsx';
import { LatencyHint } from './latency-hint.tsx';
import { QuizEditor } from './quiz-editor.tsx';
import { QuizList } from './quiz-list.tsx';
import { texts } from './texts.ts';

const EXPORT_FORMATS = ['csv', 'json'] as const;

/** The page with the quizzes of a show, in order. */
export function RundownPage({ streamId }: { readonly streamId: string }) {
  const quizzes = useApiQuery('listQuizzes', { params: { stream_id: streamId } });
  const [edited, setEdited] = useState<StudioQuiz | 'new' | null>(null);
  const mayChange = usePermission('createQuiz');
  const actions = (
    <>
      <DialogButton
        icon={<FileUp />}
        title={texts.importForm.title}
        dialog={(close) => <ImportForm streamId={streamId} onClose={close} />}
      >
        {texts.import}
      </DialogButton>
      <Button variant="primary" onPress={() => setEdited('new')} icon={<Plus />}>
        {texts.create}
      </Button>
    </>
  );
  return (
    <StreamPage streamId={streamId} actions={() => mayChange && actions}>
      {(stream) => (
        <>
          {mayChange && <LatencyHint stream={stream} />}
          <Loaded query={quizzes} label={texts.loading}>
            {(rundown) =>
              rundown.results.length === 0 ? (
                <EmptyState icon={<ListChecks />} title={texts.emptyTitle}>
                  {texts.emptyHelp}
                </EmptyState>
              ) : (
                <>
                  <QuizList streamId={streamId} rundown={rundown} onEdit={setEdited} />
                  {mayChange && <Exports streamId={streamId} />}
                </>
              )
            }
          </Loaded>
          <EditorDialog streamId={streamId} edited={edited} onClose={() => setEdited(null)} />
        </>
      )}
    </StreamPage>
  );
}

function Exports({ streamId }: { readonly streamId: string }) {
  const link = `inline-flex min-h-11 items-center gap-2 px-2 underline ${FOCUS_RING}`;
  const file = `/studio/v1/streams/${streamId}/exports/quizzes?format=`;
  return (
    <p className="flex flex-wrap items-center gap-x-3 text-quiet">
      <Download className="size-5" />
      {texts.exportAs}
      {EXPORT_FORMATS.map((format) => (
        <a key={format} href={file + format} download className={link}>
          {format.toUpperCase()}
        </a>
      ))}
    </p>
  );
}

interface EditorDialogProps {
  readonly streamId: string;
  readonly edited: StudioQuiz | 'new' | null;
  readonly onClose: () => void;
}

function EditorDialog({ streamId, edited, onClose }: EditorDialogProps) {
  const create = useApiMutation('createQuiz', { invalidates: ['listQuizzes'], onSuccess: onClose });
  const update = useApiMutation('patchQuiz', { invalidates: ['listQuizzes'], onSuccess: onClose });
  const isNew = edited === 'new';
  const saveChanges = (quiz: StudioQuiz, changed: NewQuiz) => {
    const body = quizChanges(quiz, changed);
    if (body) update.mutate({ params: { quiz_id: quiz.id }, body });
    else onClose();
  };
  const save = (quiz: NewQuiz) => {
    if (edited === 'new') create.mutate({ params: { stream_id: streamId }, body: quiz });
    else if (edited) saveChanges(edited, quiz);
  };
  return (
    <Dialog
      title={isNew ? texts.editor.createTitle : texts.editor.editTitle}
      isOpen={edited !== null}
      onOpenChange={onClose}
    >
      {edited !== null && (
        <QuizEditor
          initial={edited === 'new' ? EMPTY_DRAFT : draftOf(edited)}
          action={isNew ? texts.editor.add : texts.editor.save}
          isPending={create.isPending || update.isPending}
          onSubmit={save}
          onCancel={onClose}
        />
      )}
    </Dialog>
  );
}
