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
import { draftOf, EMPTY_DRAFT } from './draft.ts';
import { ImportForm } from './import-form.tsx';
import { LatencyHint } from './latency-hint.tsx';
import { QuizEditor } from './quiz-editor.tsx';
import { QuizList } from './quiz-list.tsx';

/** The page with the quizzes of a show, in order. */
export function RundownPage({ streamId }: { readonly streamId: string }) {
  const quizzes = useApiQuery('listQuizzes', { params: { stream_id: streamId } });
  const [edited, setEdited] = useState<StudioQuiz | 'new' | null>(null);
  const mayChange = usePermission('createQuiz');
  const actions = (
    <>
      <DialogButton
        icon={<FileUp />}
        title="Import quizzes"
        dialog={(close) => <ImportForm streamId={streamId} onClose={close} />}
      >
        Import
      </DialogButton>
      <Button variant="primary" onPress={() => setEdited('new')} icon={<Plus />}>
        New quiz
      </Button>
    </>
  );
  return (
    <StreamPage streamId={streamId} actions={() => mayChange && actions}>
      {(stream) => (
        <>
          {mayChange && <LatencyHint stream={stream} />}
          <Loaded query={quizzes} label="Loading quizzes">
            {(rundown) =>
              rundown.results.length === 0 ? (
                <EmptyState icon={<ListChecks />} title="No quizzes yet">
                  Prepare quizzes before the show. On air, each takes one press.
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
      Export as
      <a href={`${file}csv`} download className={link}>
        CSV
      </a>
      <a href={`${file}json`} download className={link}>
        JSON
      </a>
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
  const save = (body: NewQuiz) =>
    isNew
      ? create.mutate({ params: { stream_id: streamId }, body })
      : edited && update.mutate({ params: { quiz_id: edited.id }, body });
  return (
    <Dialog
      title={isNew ? 'New quiz' : 'Edit quiz'}
      isOpen={edited !== null}
      onOpenChange={onClose}
    >
      {edited !== null && (
        <QuizEditor
          initial={edited === 'new' ? EMPTY_DRAFT : draftOf(edited)}
          action={isNew ? 'Add' : 'Save'}
          isPending={create.isPending || update.isPending}
          onSubmit={save}
          onCancel={onClose}
        />
      )}
    </Dialog>
  );
}
