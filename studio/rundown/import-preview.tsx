import { Check } from 'lucide-react';
import type { QuizFile } from '../../protocol/rundown.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { DialogActions } from '../ui/dialog-actions.tsx';
import { texts } from './texts.ts';

type ImportedQuiz = QuizFile['quizzes'][number];

interface ImportPreviewProps {
  /** The quizzes of the text; null: no preview is shown. */
  readonly quizzes: readonly ImportedQuiz[] | null;
  readonly isPending: boolean;
  readonly onImport: () => void;
  readonly onClose: () => void;
}

const QUIZZES_SHOWN = 5;

/** Shows the first quizzes of an import and asks whether to create all of them. */
export function ImportPreview({ quizzes, isPending, onImport, onClose }: ImportPreviewProps) {
  const all = quizzes ?? [];
  const more = all.length - QUIZZES_SHOWN;
  return (
    <Dialog
      title={texts.importPreview.title(all.length)}
      isOpen={quizzes !== null}
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <p className="text-quiet">{texts.importPreview.help}</p>
      <ol className="grid grid-cols-1 gap-3">
        {all.slice(0, QUIZZES_SHOWN).map((quiz, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a text may have the same quiz twice
          <li key={index} className="grid gap-2 rounded-lg border border-line p-3">
            <QuizPreview quiz={quiz} />
          </li>
        ))}
      </ol>
      {more > 0 && <p className="text-quiet">{texts.importPreview.more(more)}</p>}
      <DialogActions>
        <Button onPress={onClose}>{texts.importPreview.back}</Button>
        <Button variant="primary" onPress={onImport} isPending={isPending}>
          {texts.importPreview.action(all.length)}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function QuizPreview({ quiz }: { readonly quiz: ImportedQuiz }) {
  const { question, choices, answer, duration } = quiz;
  return (
    <>
      <p dir="auto" className="font-semibold">
        {question}
      </p>
      <ul className="grid gap-1 text-sm">
        {choices.map((choice) => (
          <li key={choice} className="flex items-center gap-2">
            <Check
              aria-hidden="true"
              className={`size-4 shrink-0 text-good ${choice === answer ? '' : 'invisible'}`}
            />
            <bdi className="min-w-0">{choice}</bdi>
            {choice === answer && <span className="sr-only">{texts.importPreview.correct}</span>}
          </li>
        ))}
      </ul>
      <p className="text-sm text-quiet">{texts.importPreview.seconds(duration / 1_000)}</p>
    </>
  );
}
