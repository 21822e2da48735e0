import { FileUp } from 'lucide-react';
import { useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { IMPORT_FORMATS, type ImportFormat } from '../../protocol/rundown.ts';
import { StudioApiError } from '../api/studio-api-error.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { Button } from '../ui/button.tsx';
import { DialogForm } from '../ui/dialog-form.tsx';
import { Select } from '../ui/select.tsx';
import { messageOf } from '../ui/states.tsx';
import { TextField } from '../ui/text-field.tsx';
import { showSuccess } from '../ui/toasts.tsx';

const FORMAT_LABELS: Readonly<Record<ImportFormat, string>> = {
  'fourbeat-json': 'Fourbeat, JSON',
  'fourbeat-csv': 'Fourbeat, CSV',
  opentdb: 'Open Trivia Database, JSON',
  'the-trivia-api': 'The Trivia API, JSON',
  'kahoot-csv': 'Kahoot spreadsheet, as CSV',
};
const FORMATS = IMPORT_FORMATS.map((value) => ({ value, text: FORMAT_LABELS[value] }));
const ERRORS_SHOWN = 20;

/** Imports quizzes from a file or text: all of them, or none with the errors. */
export function ImportForm({ streamId, onClose }: { streamId: string; onClose: () => void }) {
  const [format, setFormat] = useState<ImportFormat>('fourbeat-csv');
  const [text, setText] = useState('');
  const [error, setError] = useState<unknown>(null);
  const { mutate, isPending } = useApiMutation('importQuizzes', {
    invalidates: ['listQuizzes'],
    onError: setError,
    onSuccess: ({ results }) => {
      showSuccess(
        `${results.length} ${results.length === 1 ? 'quiz is' : 'quizzes are'} imported.`,
      );
      onClose();
    },
  });
  const loadFile = async (files: FileList | null) => {
    const file = files?.[0];
    if (!file) return;
    setError(null);
    setText(await file.text());
    if (format.endsWith('csv') && file.name.endsWith('.json')) setFormat('fourbeat-json');
    if (!format.endsWith('csv') && file.name.endsWith('.csv')) setFormat('fourbeat-csv');
  };
  return (
    <DialogForm
      action="Import"
      fields={text}
      isPending={isPending}
      onSubmit={() => {
        setError(null);
        mutate({ params: { stream_id: streamId }, body: { format, text } });
      }}
      onCancel={onClose}
    >
      <div>
        <FileTrigger acceptedFileTypes={['.json', '.csv', '.txt']} onSelect={loadFile}>
          <Button icon={<FileUp />}>Choose a file</Button>
        </FileTrigger>
      </div>
      <TextField label="Or paste the content" rows={6} value={text} onChange={setText} isRequired />
      <Select label="Format" value={format} options={FORMATS} onChange={setFormat} />
      <ImportFailure error={error} />
    </DialogForm>
  );
}

function ImportFailure({ error }: { readonly error: unknown }) {
  if (error === null) return null;
  const errors = error instanceof StudioApiError ? error.errors : [];
  return (
    <div role="alert" className="grid gap-2 rounded-lg bg-bad-soft p-3 text-bad">
      <p>
        {errors.length > 0 && 'Nothing was imported. Fix these errors first:'}
        {errors.length === 0 && messageOf(error)}
      </p>
      {errors.length > 0 && (
        <ul className="grid gap-1 text-sm">
          {errors.slice(0, ERRORS_SHOWN).map((message) => (
            <li key={message}>{message}</li>
          ))}
          {errors.length > ERRORS_SHOWN && <li>and {errors.length - ERRORS_SHOWN} more</li>}
        </ul>
      )}
    </div>
  );
}
