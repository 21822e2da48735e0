import type { StudioStream } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { usePermission } from '../session/session-context.ts';
import { Button } from '../ui/button.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { texts } from './texts.ts';

/** Keeps a show open whose source left; nothing for a rehearsal or without permission. */
export function KeepOpenButton({ stream }: { readonly stream: StudioStream }) {
  const mayChange = usePermission('patchStream');
  const { mutate, isPending } = useApiMutation('patchStream', {
    invalidates: ['readOwnStream', 'readIngest'],
    onSuccess: () => showSuccess(texts.sourceLost.keptOpen),
  });
  if (!mayChange || stream.rehearsalOf !== null) return null;
  return (
    <Button
      isPending={isPending}
      onPress={() => mutate({ params: { stream_id: stream.id }, body: { keepOpen: true } })}
    >
      {texts.sourceLost.keepOpen}
    </Button>
  );
}
