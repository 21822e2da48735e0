import { RotateCcw } from 'lucide-react';
import { REOPEN_MS } from '../../protocol/limits.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { usePermission } from '../session/session-context.ts';
import { timeOf } from '../shell/times.ts';
import { Button } from '../ui/button.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { texts } from './texts.ts';

/**
 * Takes back the end of a show, as long as that is possible: a button, and a line across the columns of
 * its grid.
 * @param nowMs Unix ms
 */
export function ReopenShow({ stream, nowMs }: { stream: StudioStream; nowMs: number }) {
  const mayReopen = usePermission('reopenStream');
  const { mutate, isPending } = useApiMutation('reopenStream', {
    invalidates: ['readOwnStream', 'listOwnStreams', 'readReport'],
    onSuccess: () => showSuccess(texts.reopen.done),
  });
  const { id, ended, rehearsalOf } = stream;
  if (!mayReopen || rehearsalOf !== null || ended === null || nowMs >= ended + REOPEN_MS)
    return null;
  return (
    <>
      <Button
        isWide
        isPending={isPending}
        icon={<RotateCcw />}
        onPress={() => mutate({ params: { stream_id: id } })}
      >
        {texts.reopen.action}
      </Button>
      <p className="col-span-full text-sm leading-tight text-quiet">
        {texts.reopen.help(timeOf(ended + REOPEN_MS))}
      </p>
    </>
  );
}
