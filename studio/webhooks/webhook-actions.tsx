import { KeyRound, Pause, Pencil, Play, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Webhook } from '../../protocol/webhooks.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { Button } from '../ui/button.tsx';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { Menu } from '../ui/menu.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { ChangeWebhook, NewSecretDialog } from './webhook-dialogs.tsx';

const INVALIDATED = ['listWebhooks', 'listDeliveries'] as const;

type OpenDialog = 'pause' | 'change' | 'rotate' | 'delete';

/** The actions on a webhook with their dialogs. */
export function WebhookActions({ webhook }: { readonly webhook: Webhook }) {
  const [openDialog, setOpenDialog] = useState<OpenDialog | null>(null);
  const params = { webhook_id: webhook.id };
  const end = () => setOpenDialog(null);
  const test = useApiMutation('testWebhook', {
    invalidates: INVALIDATED,
    onSuccess: () => showSuccess('Test sent. See the log for the result.'),
  });
  const patch = useApiMutation('patchWebhook', { invalidates: INVALIDATED, onSuccess: end });
  const { enabled } = webhook;
  const enable = (isEnabled: boolean) => patch.mutate({ params, body: { enabled: isEnabled } });
  return (
    <>
      <Button
        isPending={test.isPending}
        isDisabled={!enabled}
        onPress={() => test.mutate({ params })}
        icon={<Send />}
      >
        Send a test
      </Button>
      <Button
        isPending={patch.isPending}
        onPress={() => (enabled ? setOpenDialog('pause') : enable(true))}
      >
        {enabled ? <Pause /> : <Play />}
        {enabled ? 'Pause' : 'Resume'}
      </Button>
      <Menu
        label="More actions"
        actions={[
          { text: 'Edit', icon: <Pencil />, onAction: () => setOpenDialog('change') },
          { text: 'Replace secret', icon: <KeyRound />, onAction: () => setOpenDialog('rotate') },
          {
            text: 'Delete',
            icon: <Trash2 />,
            isDangerous: true,
            onAction: () => setOpenDialog('delete'),
          },
        ]}
      />
      <Confirm
        title="Pause the webhook?"
        action="Pause"
        isOpen={openDialog === 'pause'}
        onOpenChange={end}
        isPending={patch.isPending}
        onConfirm={() => enable(false)}
      >
        Pending deliveries are dropped. Events during the pause are not sent later.
      </Confirm>
      <Dialog title="Edit webhook" isOpen={openDialog === 'change'} onOpenChange={end}>
        <ChangeWebhook webhook={webhook} onClose={end} />
      </Dialog>
      <NewSecret webhook={webhook} isOpen={openDialog === 'rotate'} onClose={end} />
      <DeleteDialog webhook={webhook} isOpen={openDialog === 'delete'} onClose={end} />
    </>
  );
}

interface ActionDialogProps {
  readonly webhook: Webhook;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

function NewSecret({ webhook, isOpen, onClose }: ActionDialogProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const { mutate, isPending } = useApiMutation('rotateWebhookSecret', {
    invalidates: INVALIDATED,
    onSuccess: (response) => {
      setSecret(response.secret);
      onClose();
    },
  });
  return (
    <>
      <Confirm
        title="Replace the secret?"
        action="Replace"
        isOpen={isOpen}
        onOpenChange={onClose}
        isPending={isPending}
        onConfirm={() => mutate({ params: { webhook_id: webhook.id } })}
      >
        For 24 hours, deliveries are signed with both secrets, so that your program can switch
        without missing any. Then the old secret expires.
      </Confirm>
      <NewSecretDialog secret={secret} onClose={() => setSecret(null)} />
    </>
  );
}

function DeleteDialog({ webhook, isOpen, onClose }: ActionDialogProps) {
  const [, goTo] = useLocation();
  const { mutate, isPending } = useApiMutation('deleteWebhook', {
    invalidates: ['listWebhooks'],
    onSuccess: () => {
      showSuccess('Webhook deleted.');
      goTo('/webhooks');
    },
  });
  return (
    <Confirm
      title="Delete the webhook?"
      action="Delete"
      isOpen={isOpen}
      onOpenChange={onClose}
      isPending={isPending}
      onConfirm={() => mutate({ params: { webhook_id: webhook.id } })}
    >
      Nothing more is sent to {webhook.url}, and its log is deleted. This cannot be undone.
    </Confirm>
  );
}
