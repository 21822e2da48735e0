import { useState } from 'react';
import type { Webhook } from '../../protocol/webhooks.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { changedFields } from '../ui/changed-fields.ts';
import { Dialog } from '../ui/dialog.tsx';
import { OneTimeSecret } from '../ui/one-time-secret.tsx';
import { showError } from '../ui/toasts.tsx';
import { texts } from './texts.ts';
import { urlErrorOf } from './url-error.ts';
import { type WebhookFields, WebhookForm } from './webhook-form.tsx';

const INVALIDATED = ['listWebhooks'] as const;

/** Creates a webhook, then shows its secret once. */
export function NewWebhook({ onClose }: { readonly onClose: () => void }) {
  const [error, onError] = useFormError();
  const [secret, setSecret] = useState<string | null>(null);
  const { mutate, isPending } = useApiMutation('createWebhook', {
    invalidates: INVALIDATED,
    onSuccess: (response) => setSecret(response.secret),
    onError,
  });
  if (secret !== null) return <Secret secret={secret} onClose={onClose} />;
  return (
    <WebhookForm
      initial={{ url: '', events: [] }}
      action={texts.form.create}
      isPending={isPending}
      error={error}
      onSubmit={(body) => mutate({ body })}
      onCancel={onClose}
    />
  );
}

export function ChangeWebhook({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const [error, onError] = useFormError();
  const { mutate, isPending } = useApiMutation('patchWebhook', {
    invalidates: INVALIDATED,
    onSuccess: onClose,
    onError,
  });
  // The page reads the webhook again while the form is open.
  const [initial] = useState(webhook);
  const save = (fields: WebhookFields) => {
    const body = changedFields(initial, fields);
    if (body) mutate({ params: { webhook_id: webhook.id }, body });
    else onClose();
  };
  return (
    <WebhookForm
      initial={initial}
      action={texts.form.save}
      isPending={isPending}
      error={error}
      onSubmit={save}
      onCancel={onClose}
    />
  );
}

interface NewSecretDialogProps {
  /** The new secret; null: the dialog is closed. */
  readonly secret: string | null;
  readonly onClose: () => void;
}

/** Shows the replaced secret of a webhook once. */
export function NewSecretDialog({ secret, onClose }: NewSecretDialogProps) {
  return (
    <Dialog title={texts.secret.newTitle} isOpen={secret !== null} onOpenChange={onClose}>
      {secret !== null && (
        <>
          <Secret secret={secret} onClose={onClose} />
          <p className="text-sm text-quiet">{texts.secret.oldSecret}</p>
        </>
      )}
    </Dialog>
  );
}

function Secret({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <OneTimeSecret copyLabel={texts.secret.copy} secret={secret} onClose={onClose}>
      {texts.secret.explanation}
    </OneTimeSecret>
  );
}

/** The form shows errors about its URL; a toast shows others. */
function useFormError() {
  const [error, setError] = useState<unknown>(null);
  const onError = (error: unknown) => {
    setError(error);
    if (urlErrorOf(error) === undefined) showError(error);
  };
  return [error, onError] as const;
}
