import { Download, FileUp, ListChecks, Plus } from 'lucide-react';
import { useState } from 'react';
import type { NewQuiz, StudioQuiz } from '../../protocol/studio.ts';
import { useRead } from '../api/use-read.ts';
import { useWrite } from '../api/use-write.ts';
import { useMay } from '../session/session-context.ts';
import { StreamPage } from '../streams/stream-page.tsx';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { draftOf, EMPTY_DRAFT } from './draft.ts';
import { ImportDialog } from './import-dialog.tsx';
import { LatencyHint } from './latency-hint.tsx';
import { QuizEditor } from './quiz-editor.tsx';
import { QuizList } from './quiz-list.tsx';

/** The quizzes of a show, as they are to come. */
export function RundownPage({ streamId }: { readonly streamId: string }) {
  const quizzes = useRead('listQuizzes', { params: { stream_id: streamId } });
  const [edited, setEdited] = useState<StudioQuiz | 'new' | null>(null);
  const [isImporting, setImporting] = useState(false);
  const mayChange = useMay('createQuiz');
  const actions = (
    <>
      <Button onPress={() => setImporting(true)}>
        <FileUp aria-hidden="true" />
        Import
      </Button>
      <Button look="primary" onPress={() => setEdited('new')}>
        <Plus aria-hidden="true" />
        New quiz
      </Button>
    </>
  );
  return (
    <StreamPage streamId={streamId} actions={() => mayChange && actions}>
      {(stream) => (
        <>
          {mayChange && <LatencyHint stream={stream} />}
          {quizzes.isPending && <Loading what="Looking for the quizzes" />}
          {quizzes.isError && !quizzes.data && (
            <Failure error={quizzes.error} onAgain={() => quizzes.refetch()} />
          )}
          {quizzes.data?.results.length === 0 && (
            <Empty icon={<ListChecks aria-hidden="true" />} title="No quizzes yet">
              Write them before the show; on air each is one press of a button.
            </Empty>
          )}
          {quizzes.data && quizzes.data.results.length > 0 && (
            <>
              <QuizList streamId={streamId} rundown={quizzes.data} onEdit={setEdited} />
              {mayChange && <Exports streamId={streamId} />}
            </>
          )}
          <ImportDialog streamId={streamId} isOpen={isImporting} onOpenChange={setImporting} />
          <EditorDialog streamId={streamId} edited={edited} onEnd={() => setEdited(null)} />
        </>
      )}
    </StreamPage>
  );
}

/** The quizzes as a file, by links: a browser saves what they lead to. */
function Exports({ streamId }: { readonly streamId: string }) {
  const link = `inline-flex min-h-11 items-center gap-2 px-2 underline ${FOCUS_RING}`;
  const file = `/studio/v1/streams/${streamId}/exports/quizzes?format=`;
  return (
    <p className="flex flex-wrap items-center gap-x-3 text-quiet">
      <Download className="size-5" aria-hidden="true" />
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
