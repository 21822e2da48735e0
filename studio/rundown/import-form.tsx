import { ClipboardPaste, FileUp } from 'lucide-react';
import { useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { IMPORT_BODY_BYTES } from '../../protocol/limits.ts';
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
import { ImportPreview } from './import-preview.tsx';
import { texts } from './texts.ts';

const FORMATS = IMPORT_FORMATS.map((value) => ({ value, text: texts.importForm.formats[value] }));
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
      showSuccess(texts.importForm.done(results.length));
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
    // The service accepts no larger text, and a page with one stops to respond.
    if (file.size > IMPORT_BODY_BYTES) return onError(new Error(texts.importForm.tooLarge));
    await file.text().then(changeText, () => onError(new Error(texts.importForm.unreadable)));
  };
  return (
    <DialogForm
      action={texts.importForm.action}
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
          <Button icon={<FileUp />}>{texts.importForm.chooseFile}</Button>
        </FileTrigger>
        <Button
          variant="quiet"
          icon={<ClipboardPaste />}
          isDisabled={text !== ''}
          onPress={() => changeText(SAMPLE_CSV)}
        >
          {texts.importForm.sample}
        </Button>
      </div>
      <TextField
        label={texts.importForm.text}
        help={texts.importForm.textHelp}
        rows={6}
        value={text}
        onChange={changeText}
        isRequired
      />
      <Select
        label={texts.importForm.format}
        value={format}
        options={FORMATS}
        onChange={setFormat}
      />
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
        {errors.length > 0 && texts.importForm.errors}
        {errors.length === 0 && messageOf(error)}
      </p>
      {errors.length > 0 && (
        <ul className="grid gap-1 text-sm">
          {errors.slice(0, ERRORS_SHOWN).map((message) => (
            <li key={message}>{message}</li>
          ))}
          {errors.length > ERRORS_SHOWN && (
            <li>{texts.importForm.more(errors.length - ERRORS_SHOWN)}</li>
          )}
        </ul>
      )}
    </div>
  );
}
