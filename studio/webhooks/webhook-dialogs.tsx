import { useState } from 'react';
import type { Webhook } from '../../protocol/webhooks.ts';
import { useWrite } from '../api/use-write.ts';
import { Dialog } from '../ui/dialog.tsx';
import { ShownOnce } from '../ui/shown-once.tsx';
import { tellFailure } from '../ui/toasts.tsx';
import { urlRefusal, WebhookForm } from './webhook-form.tsx';

const STALE = ['listWebhooks'] as const;

interface DialogProps {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
}

/** Asks where to tell what, then shows the secret: once. */
export function NewWebhookDialog({ isOpen, onOpenChange }: DialogProps) {
  return (
    <Dialog title="New webhook" isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => <NewWebhook onEnd={close} />}
    </Dialog>
  );
}

function NewWebhook({ onEnd }: { readonly onEnd: () => void }) {
  const [failure, onFailure] = useRefusal();
  const [secret, setSecret] = useState<string | null>(null);
  const { write, isPending } = useWrite('createWebhook', {
    stale: STALE,
    onDone: (made) => setSecret(made.secret),
    onFailure,
  });
  if (secret !== null) return <Secret secret={secret} onEnd={onEnd} />;
  return (
    <WebhookForm
      initial={{ url: '', events: [] }}
      action="Make it"
      isPending={isPending}
      failure={failure}
      onSubmit={(body) => write({ body })}
      onCancel={onEnd}
    />
  );
}

interface OfWebhookProps extends DialogProps {
  readonly webhook: Webhook;
}

export function ChangeWebhookDialog({ webhook, isOpen, onOpenChange }: OfWebhookProps) {
  return (
    <Dialog title="Change the webhook" isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => <ChangeWebhook webhook={webhook} onEnd={close} />}
    </Dialog>
  );
}

interface ChangeProps {
  readonly webhook: Webhook;
  readonly onEnd: () => void;
}

function ChangeWebhook({ webhook, onEnd }: ChangeProps) {
  const [failure, onFailure] = useRefusal();
  const { write, isPending } = useWrite('patchWebhook', {
    stale: STALE,
    onDone: onEnd,
    onFailure,
  });
  return (
    <WebhookForm
      initial={webhook}
      action="Keep"
      isPending={isPending}
      failure={failure}
      onSubmit={(body) => write({ params: { webhook_id: webhook.id }, body })}
      onCancel={onEnd}
    />
  );
}

interface NewSecretDialogProps {
  /** What was made; null: nothing, and the dialog is closed. */
  readonly secret: string | null;
  readonly onEnd: () => void;
}

/** The secret that a webhook was given in place of the one before. */
export function NewSecretDialog({ secret, onEnd }: NewSecretDialogProps) {
  return (
    <Dialog title="New secret" isOpen={secret !== null} onOpenChange={onEnd}>
      {secret !== null && (
        <>
          <Secret secret={secret} onEnd={onEnd} />
          <p className="text-sm text-quiet">
            For 24 hours what is sent is signed with the old one as well.
          </p>
        </>
      )}
    </Dialog>
  );
}

function Secret({ secret, onEnd }: { readonly secret: string; readonly onEnd: () => void }) {
  return (
    <ShownOnce what="secret" secret={secret} onEnd={onEnd}>
      What is sent is signed with this secret: by it your program knows that we sent it. Copy it
      now: it is not shown again.
    </ShownOnce>
  );
}

/** What is said beside the address is kept; all else is said at the edge of the page. */
function useRefusal() {
  const [failure, setFailure] = useState<unknown>(null);
  const onFailure = (error: unknown) => {
    setFailure(error);
    if (urlRefusal(error) === undefined) tellFailure(error);
  };
  return [failure, onFailure] as const;
}
