import { CircleAlert, CircleCheck, X } from 'lucide-react';
import {
  Text,
  UNSTABLE_Toast as Toast,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from 'react-aria-components';
import { Button } from './button.tsx';
import { messageOf } from './states.tsx';
import { TextTemplate } from './text-template.tsx';
import { texts } from './texts.ts';

interface ToastData {
  /** A name or title in the place of `{}` in the text; null: none. */
  readonly name: string | null;
  readonly text: string;
  readonly isError: boolean;
}

/** Success messages disappear after this time; errors stay until closed. */
const SUCCESS_TIMEOUT_MS = 6_000;

const queue = new ToastQueue<ToastData>({ maxVisibleToasts: 3 });

/** @param name a name or title in the place of `{}` in the text, in a direction of its own */
export function showSuccess(text: string, name: string | null = null): void {
  queue.add({ name, text, isError: false }, { timeout: SUCCESS_TIMEOUT_MS });
}

/** Shows an error until it is closed, unless the same one is visible. @returns closes it */
export function showError(error: unknown): () => void {
  const text = messageOf(error);
  const visible = queue.visibleToasts.find(
    ({ content }) => content.isError && content.text === text,
  );
  const key = visible?.key ?? queue.add({ name: null, text, isError: true });
  return () => queue.close(key);
}

function ToastText({ name, text }: ToastData) {
  // Messages of the service are shown as they are, whatever they contain.
  if (name === null) return text;
  return (
    <TextTemplate text={text}>
      <bdi>{name}</bdi>
    </TextTemplate>
  );
}

/** The toast region; render it once per page. */
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
          {toast.content.isError ? (
            <CircleAlert className="size-5 shrink-0 text-bad" />
          ) : (
            <CircleCheck className="size-5 shrink-0 text-good" />
          )}
          <ToastContent className="min-w-0 flex-1 wrap-anywhere">
            <Text slot="title">
              <ToastText {...toast.content} />
            </Text>
          </ToastContent>
          <Button slot="close" variant="quiet" aria-label={texts.closeMessage} icon={<X />} />
        </Toast>
      )}
    </ToastRegion>
  );
}
