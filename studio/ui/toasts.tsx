import { CircleAlert, CircleCheck, X } from 'lucide-react';
import {
  Text,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components';
import { Button } from './button.tsx';

interface Told {
  readonly text: string;
  readonly isBad: boolean;
}

/** What was done is read in this time; what went wrong stays until it is taken away. */
const DONE_MS = 6_000;

const queue = new ToastQueue<Told>({ maxVisibleToasts: 3 });

/** Says that something was done. */
export function tellDone(text: string): void {
  queue.add({ text, isBad: false }, { timeout: DONE_MS });
}

/** Says that something did not work, and why. */
export function tellFailure(error: unknown): void {
  const text = error instanceof Error ? error.message : 'It did not work.';
  if (queue.visibleToasts.some(({ content }) => content.isBad && content.text === text)) return;
  queue.add({ text, isBad: true });
}

/** Where it is said: once in a page. */
export function Toasts() {
  return (
    <ToastRegion
      queue={queue}
      className="fixed inset-x-3 bottom-18 z-(--layer-dialog) grid justify-items-end gap-2 outline-none sm:bottom-3 sm:left-auto sm:w-96"
    >
      {({ toast }) => (
        <Toast
          toast={toast}
          className="flex w-full items-center gap-3 rounded-xl border border-line bg-card p-3 text-text shadow-lg outline-none focus-visible:outline-3 focus-visible:outline-focus"
        >
          {toast.content.isBad ? (
            <CircleAlert className="size-5 shrink-0 text-bad" aria-hidden="true" />
          ) : (
            <CircleCheck className="size-5 shrink-0 text-good" aria-hidden="true" />
          )}
          <ToastContent className="min-w-0 flex-1">
            <Text slot="title">{toast.content.text}</Text>
          </ToastContent>
          <Button slot="close" look="quiet" size="icon" aria-label="Take this away">
            <X aria-hidden="true" />
          </Button>
        </Toast>
      )}
    </ToastRegion>
  );
}
