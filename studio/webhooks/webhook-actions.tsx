import { KeyRound, Pause, Pencil, Play, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Webhook } from '../../protocol/webhooks.ts';
import { useWrite } from '../api/use-write.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Menu } from '../ui/menu.tsx';
import { tellDone } from '../ui/toasts.tsx';
import { ChangeWebhookDialog, NewSecretDialog } from './webhook-dialogs.tsx';

const STALE = ['listWebhooks', 'listDeliveries'] as const;

type Asked = 'pause' | 'change' | 'rotate' | 'delete';

/** What can be done with a webhook. */
export function WebhookActions({ webhook }: { readonly webhook: Webhook }) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const params = { webhook_id: webhook.id };
  const end = () => setAsked(null);
  const test = useWrite('testWebhook', {
    stale: STALE,
    onDone: () => tellDone('A test is on its way; the log says what came of it.'),
  });
  const patch = useWrite('patchWebhook', { stale: STALE, onDone: end });
  const { enabled } = webhook;
  const enable = (isEnabled: boolean) => patch.write({ params, body: { enabled: isEnabled } });
  return (
    <>
      <Button
        isPending={test.isPending}
        isDisabled={!enabled}
        onPress={() => test.write({ params })}
      >
        <Send aria-hidden="true" />
        Send a test
      </Button>
      <Button
        isPending={patch.isPending}
        onPress={() => (enabled ? setAsked('pause') : enable(true))}
      >
        {enabled ? <Pause aria-hidden="true" /> : <Play aria-hidden="true" />}
        {enabled ? 'Pause' : 'Go on'}
      </Button>
      <Menu
        label="What else to do with the webhook"
        actions={[
          { text: 'Change', icon: <Pencil />, onAction: () => setAsked('change') },
          { text: 'New secret', icon: <KeyRound />, onAction: () => setAsked('rotate') },
          {
            text: 'Delete',
            icon: <Trash2 />,
            isDangerous: true,
            onAction: () => setAsked('delete'),
          },
        ]}
      />
      <Confirm
        title="Pause the webhook?"
        action="Pause it"
        isOpen={asked === 'pause'}
        onOpenChange={end}
        isPending={patch.isPending}
        onConfirm={() => enable(false)}
      >
        What waits to be sent is given up, and what happens meanwhile is not told later.
      </Confirm>
      <ChangeWebhookDialog webhook={webhook} isOpen={asked === 'change'} onOpenChange={end} />
      <NewSecret webhook={webhook} isOpen={asked === 'rotate'} onEnd={end} />
      <Deletion webhook={webhook} isOpen={asked === 'delete'} onEnd={end} />
    </>
  );
}

interface AskedProps {
  readonly webhook: Webhook;
  readonly isOpen: boolean;
  readonly onEnd: () => void;
}

function NewSecret({ webhook, isOpen, onEnd }: AskedProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const { write, isPending } = useWrite('rotateWebhookSecret', {
    stale: STALE,
    onDone: (made) => {
      setSecret(made.secret);
      onEnd();
    },
  });
  return (
    <>
      <Confirm
        title="Make a new secret?"
        action="Make a new one"
        isOpen={isOpen}
        onOpenChange={onEnd}
        isPending={isPending}
        onConfirm={() => write({ params: { webhook_id: webhook.id } })}
      >
        For 24 hours what is sent is signed with both, so that your program can change to the new
        one without missing anything. Then the old one signs nothing any more.
      </Confirm>
      <NewSecretDialog secret={secret} onEnd={() => setSecret(null)} />
    </>
  );
}

function Deletion({ webhook, isOpen, onEnd }: AskedProps) {
  const [, goTo] = useLocation();
  const { write, isPending } = useWrite('deleteWebhook', {
    stale: ['listWebhooks'],
    onDone: () => {
      tellDone('The webhook is deleted.');
      goTo('/webhooks');
    },
  });
  return (
    <Confirm
      title="Delete the webhook?"
      action="Delete"
      isOpen={isOpen}
      onOpenChange={onEnd}
      isPending={isPending}
      onConfirm={() => write({ params: { webhook_id: webhook.id } })}
    >
      Nothing is sent to {webhook.url} any more, and its log is gone. This cannot be taken back.
    </Confirm>
  );
}
