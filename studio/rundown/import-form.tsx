import { ClipboardPaste, FileUp } from 'lucide-react';
import { useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { IMPORT_FORMATS, type ImportFormat, type QuizFile } from '../../protocol/rundown.ts';
import { StudioApiError } from '../api/studio-api-error.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { Button } from '../ui/button.tsx';
import { DialogForm } from '../ui/dialog-form.tsx';
import { Select } from '../ui/select.tsx';
import { messageOf } from '../ui/states.tsx';
import { TextField } from '../ui/text-field.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { detectFormat, SAMPLE_CSV } from './import-format.ts';
import { countOf, ImportPreview } from './import-preview.tsx';

const FORMAT_LABELS: Readonly<Record<ImportFormat, string>> = {
  'fourbeat-json': 'Fourbeat, JSON',
  'fourbeat-csv': 'Fourbeat, CSV',
  opentdb: 'Open Trivia Database, JSON',
  'the-trivia-api': 'The Trivia API, JSON',
  'kahoot-csv': 'Kahoot spreadsheet, as CSV',
};
const FORMATS = IMPORT_FORMATS.map((value) => ({ value, text: FORMAT_LABELS[value] }));
const ERRORS_SHOWN = 20;

/** Imports quizzes from a file or text, after a preview: all of them, or none with the errors. */
export function ImportForm({ streamId, onClose }: { streamId: string; onClose: () => void }) {
  const [format, setFormat] = useState<ImportFormat>('fourbeat-csv');
  const [text, setText] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [quizzes, setQuizzes] = useState<QuizFile['quizzes'] | null>(null);
  const onError = (error: unknown) => {
    setQuizzes(null);
    setError(error);
  };
  const preview = useApiMutation('previewImport', {
    onError,
    onSuccess: ({ quizzes }) => setQuizzes(quizzes),
  });
  const { mutate, isPending } = useApiMutation('importQuizzes', {
    invalidates: ['listQuizzes'],
    onError,
    onSuccess: ({ results }) => {
      showSuccess(`${countOf(results.length)} added to the rundown.`);
      onClose();
    },
  });
  const input = { params: { stream_id: streamId }, body: { format, text } };
  const changeText = (text: string) => {
    setText(text);
    const detected = detectFormat(text);
    if (detected) setFormat(detected);
  };
  const loadFile = async (files: FileList | null) => {
    const file = files?.[0];
    if (!file) return;
    setError(null);
    changeText(await file.text());
  };
  return (
    <DialogForm
      action="Preview"
      fields={text}
      isPending={preview.isPending}
      onSubmit={() => {
        setError(null);
        preview.mutate(input);
      }}
      onCancel={onClose}
    >
      <div className="flex flex-wrap gap-3">
        <FileTrigger acceptedFileTypes={['.json', '.csv', '.txt']} onSelect={loadFile}>
          <Button icon={<FileUp />}>Choose a file</Button>
        </FileTrigger>
        <Button
          variant="quiet"
          icon={<ClipboardPaste />}
          isDisabled={text !== ''}
          onPress={() => changeText(SAMPLE_CSV)}
        >
          Try a sample
        </Button>
      </div>
      <TextField
        label="Or paste the content"
        help="The format is recognized, also that of Open Trivia Database."
        rows={6}
        value={text}
        onChange={changeText}
        isRequired
      />
      <Select label="Format" value={format} options={FORMATS} onChange={setFormat} />
      <ImportFailure error={error} />
      <ImportPreview
        quizzes={quizzes}
        isPending={isPending}
        onImport={() => mutate(input)}
        onClose={() => setQuizzes(null)}
      />
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
