import { Square } from 'lucide-react';
import { useState } from 'react';
import { REOPEN_MS } from '../../protocol/limits.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { usePermission } from '../session/session-context.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { texts } from './texts.ts';

const REOPEN_MINUTES = REOPEN_MS / 60_000;

/** Ends a live show or a rehearsal, after confirmation. */
export function EndShow({ stream }: { readonly stream: StudioStream }) {
  const [isOpen, setOpen] = useState(false);
  const mayEnd = usePermission('endStream');
  const { mutate, isPending } = useApiMutation('endStream', {
    invalidates: ['readOwnStream', 'listOwnStreams'],
    onSuccess: () => setOpen(false),
  });
  if (!mayEnd || stream.status !== 'STREAMING') return null;
  const isRehearsal = stream.rehearsalOf !== null;
  const { button, title, action } = isRehearsal ? texts.endRehearsal : texts.endShow;
  return (
    <>
      <Button variant="danger" onPress={() => setOpen(true)} icon={<Square />}>
        {button}
      </Button>
      <Confirm
        title={title}
        action={action}
        isOpen={isOpen}
        onOpenChange={setOpen}
        isPending={isPending}
        onConfirm={() => mutate({ params: { stream_id: stream.id }, body: {} })}
      >
        {isRehearsal ? texts.endRehearsal.effect : texts.endShow.effect(REOPEN_MINUTES)}
      </Confirm>
    </>
  );
}
