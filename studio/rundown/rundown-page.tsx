import { Download, FileUp, ListChecks, Plus } from 'lucide-react';
import { useState } from 'react';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { usePermission } from '../session/session-context.ts';
import { StreamPage } from '../streams/stream-page.tsx';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Dialog, DialogButton } from '../ui/dialog.tsx';
import { EmptyState, Loaded } from '../ui/states.tsx';
import { ImportForm } from './import-form.tsx';
import { LatencyHint } from './latency-hint.tsx';
import { EditQuizForm, NewQuizForm } from './quiz-forms.tsx';
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
          <Dialog
            title={edited === 'new' ? texts.editor.createTitle : texts.editor.editTitle}
            isOpen={edited !== null}
            onOpenChange={() => setEdited(null)}
          >
            {(close) =>
              edited === 'new' ? (
                <NewQuizForm streamId={streamId} onClose={close} />
              ) : (
                edited && <EditQuizForm quiz={edited} onClose={close} />
              )
            }
          </Dialog>
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
