import { Square } from 'lucide-react';
import { useState } from 'react';
import type { StudioStream } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { usePermission } from '../session/session-context.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';

const SHOW_TEXTS = {
  button: 'End the show',
  title: 'End the show?',
  action: 'End show',
  effect:
    'The video stops for all viewers and you cannot send more quizzes. You can reopen the show within 10 minutes.',
} as const;
const REHEARSAL_TEXTS = {
  button: 'End the rehearsal',
  title: 'End the rehearsal?',
  action: 'End rehearsal',
  effect: 'The simulated viewers leave. The show itself stays as it is.',
} as const;

/** Ends a live show or a rehearsal, after confirmation. */
export function EndShow({ stream }: { readonly stream: StudioStream }) {
  const [isOpen, setOpen] = useState(false);
  const mayEnd = usePermission('endStream');
  const { mutate, isPending } = useApiMutation('endStream', {
    invalidates: ['readOwnStream', 'listOwnStreams'],
    onSuccess: () => setOpen(false),
  });
  if (!mayEnd || stream.status !== 'STREAMING') return null;
  const texts = stream.rehearsalOf ? REHEARSAL_TEXTS : SHOW_TEXTS;
  return (
    <>
      <Button variant="danger" onPress={() => setOpen(true)} icon={<Square />}>
        {texts.button}
      </Button>
      <Confirm
        title={texts.title}
        action={texts.action}
        isOpen={isOpen}
        onOpenChange={setOpen}
        isPending={isPending}
        onConfirm={() => mutate({ params: { stream_id: stream.id }, body: {} })}
      >
        {texts.effect}
      </Confirm>
    </>
  );
}
