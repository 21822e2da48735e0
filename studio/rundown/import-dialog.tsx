import { FileUp } from 'lucide-react';
import { useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { IMPORT_FORMATS, type ImportFormat } from '../../protocol/rundown.ts';
import { StudioProblem } from '../api/studio-problem.ts';
import { useWrite } from '../api/use-write.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { DialogForm } from '../ui/dialog-form.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { tellDone } from '../ui/toasts.tsx';

const FORMAT_WORDS: Readonly<Record<ImportFormat, string>> = {
  'fourbeat-json': 'Fourbeat, JSON',
  'fourbeat-csv': 'Fourbeat, CSV',
  opentdb: 'Open Trivia Database, JSON',
  'the-trivia-api': 'The Trivia API, JSON',
  'kahoot-csv': 'Kahoot spreadsheet, as CSV',
};
const FORMATS = IMPORT_FORMATS.map((value) => ({ value, text: FORMAT_WORDS[value] }));
/** As many as can be read at once by somebody who mends a file. */
const ERRORS_SHOWN = 20;

interface ImportDialogProps {
  readonly streamId: string;
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
}

/** Quizzes from a file: all of them, or none and why. */
export function ImportDialog({ streamId, isOpen, onOpenChange }: ImportDialogProps) {
  return (
    <Dialog title="Import quizzes" isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => <Importing streamId={streamId} onEnd={close} />}
    </Dialog>
  );
}

function Importing({ streamId, onEnd }: { readonly streamId: string; readonly onEnd: () => void }) {
  const [format, setFormat] = useState<ImportFormat>('fourbeat-csv');
  const [text, setText] = useState('');
  const [failure, setFailure] = useState<unknown>(null);
  const { write, isPending } = useWrite('importQuizzes', {
    stale: ['listQuizzes'],
    onFailure: setFailure,
    onDone: ({ results }) => {
      tellDone(`${results.length} ${results.length === 1 ? 'quiz is' : 'quizzes are'} at the end.`);
      onEnd();
    },
  });
  const take = async (files: FileList | null) => {
    const file = files?.[0];
    if (!file) return;
    setFailure(null);
    setText(await file.text());
    if (format.endsWith('csv') && file.name.endsWith('.json')) setFormat('fourbeat-json');
    if (!format.endsWith('csv') && file.name.endsWith('.csv')) setFormat('fourbeat-csv');
  };
  return (
    <DialogForm
      action="Import"
      isPending={isPending}
      onSubmit={() => {
        setFailure(null);
        write({ params: { stream_id: streamId }, body: { format, text } });
      }}
      onCancel={onEnd}
    >
      <div>
        <FileTrigger acceptedFileTypes={['.json', '.csv', '.txt']} onSelect={take}>
          <Button>
            <FileUp aria-hidden="true" />
            Choose a file
          </Button>
        </FileTrigger>
      </div>
      <TextField label="Or paste its text" rows={6} value={text} onChange={setText} isRequired />
      <Select label="Format" value={format} options={FORMATS} onChange={setFormat} />
      <ImportFailure error={failure} />
    </DialogForm>
  );
}

function ImportFailure({ error }: { readonly error: unknown }) {
  if (error === null) return null;
  const lines = error instanceof StudioProblem ? error.errors : [];
  return (
    <div role="alert" className="grid gap-2 rounded-lg bg-bad-soft p-3 text-bad">
      <p>
        {lines.length > 0 && 'Nothing is imported while this is in it:'}
        {lines.length === 0 && (error instanceof Error ? error.message : 'It did not work.')}
      </p>
      {lines.length > 0 && (
        <ul className="grid gap-1 text-sm">
          {lines.slice(0, ERRORS_SHOWN).map((line) => (
            <li key={line}>{line}</li>
          ))}
          {lines.length > ERRORS_SHOWN && <li>and {lines.length - ERRORS_SHOWN} more</li>}
        </ul>
      )}
    </div>
  );
}
