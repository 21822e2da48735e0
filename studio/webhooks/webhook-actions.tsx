import { KeyRound, Pause, Pencil, Play, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Webhook } from '../../protocol/webhooks.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { Button } from '../ui/button.tsx';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { Menu } from '../ui/menu.tsx';
import { showSuccess } from '../ui/toasts.tsx';
import { texts } from './texts.ts';
import { ChangeWebhook, NewSecretDialog } from './webhook-dialogs.tsx';

const INVALIDATED = ['listWebhooks', 'listDeliveries'] as const;

type OpenDialog = 'pause' | 'change' | 'rotate' | 'delete';

/** The actions on a webhook with their dialogs. */
export function WebhookActions({ webhook }: { readonly webhook: Webhook }) {
  const [openDialog, setOpenDialog] = useState<OpenDialog | null>(null);
  const params = { webhook_id: webhook.id };
  // The response of an action may arrive while the dialog of another one is open.
  const close = (dialog: OpenDialog) =>
    setOpenDialog((current) => (current === dialog ? null : current));
  const test = useApiMutation('testWebhook', {
    invalidates: INVALIDATED,
    onSuccess: () => showSuccess(texts.actions.testDone),
  });
  const patch = useApiMutation('patchWebhook', {
    invalidates: INVALIDATED,
    onSuccess: () => close('pause'),
  });
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
        {texts.actions.test}
      </Button>
      <Button
        isPending={patch.isPending}
        onPress={() => (enabled ? setOpenDialog('pause') : enable(true))}
      >
        {enabled ? <Pause /> : <Play />}
        {enabled ? texts.actions.pause : texts.actions.resume}
      </Button>
      <Menu
        label={texts.actions.more}
        actions={[
          { text: texts.actions.edit, icon: <Pencil />, onAction: () => setOpenDialog('change') },
          {
            text: texts.secret.replaceMenu,
            icon: <KeyRound />,
            onAction: () => setOpenDialog('rotate'),
          },
          {
            text: texts.actions.delete,
            icon: <Trash2 />,
            isDangerous: true,
            onAction: () => setOpenDialog('delete'),
          },
        ]}
      />
      <Confirm
        title={texts.actions.pauseTitle}
        action={texts.actions.pause}
        isOpen={openDialog === 'pause'}
        onOpenChange={() => close('pause')}
        isPending={patch.isPending}
        onConfirm={() => enable(false)}
      >
        {texts.actions.pauseHelp}
      </Confirm>
      <Dialog
        title={texts.actions.editTitle}
        isOpen={openDialog === 'change'}
        onOpenChange={() => close('change')}
      >
        {(closeThis) => <ChangeWebhook webhook={webhook} onClose={closeThis} />}
      </Dialog>
      <NewSecret
        webhook={webhook}
        isOpen={openDialog === 'rotate'}
        onClose={() => close('rotate')}
      />
      <DeleteDialog
        webhook={webhook}
        isOpen={openDialog === 'delete'}
        onClose={() => close('delete')}
      />
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
        title={texts.secret.replaceTitle}
        action={texts.secret.replace}
        isOpen={isOpen}
        onOpenChange={onClose}
        isPending={isPending}
        onConfirm={() => mutate({ params: { webhook_id: webhook.id } })}
      >
        {texts.secret.replaceHelp}
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
      showSuccess(texts.actions.deleteDone);
      goTo('/webhooks');
    },
  });
  return (
    <Confirm
      title={texts.actions.deleteTitle}
      action={texts.actions.delete}
      isOpen={isOpen}
      onOpenChange={onClose}
      isPending={isPending}
      onConfirm={() => mutate({ params: { webhook_id: webhook.id } })}
    >
      {texts.actions.deleteHelp(webhook.url)}
    </Confirm>
  );
}
