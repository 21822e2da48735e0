import { useState } from 'react';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { DialogForm } from '../ui/dialog-form.tsx';
import { OneTimeSecret } from '../ui/one-time-secret.tsx';
import { TextField } from '../ui/text-field.tsx';
import { texts } from './texts.ts';

/** Creates a token and shows it once. */
export function NewTokenForm({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [secret, setSecret] = useState<string | null>(null);
  const { mutate, isPending } = useApiMutation('createApiToken', {
    invalidates: ['listApiTokens'],
    onSuccess: ({ token }) => setSecret(token),
  });
  if (secret !== null) {
    return (
      <OneTimeSecret copyLabel={texts.create.copyToken} secret={secret} onClose={onClose}>
        {texts.create.shownOnce}
      </OneTimeSecret>
    );
  }
  return (
    <DialogForm
      action={texts.create.action}
      fields={name}
      isPending={isPending}
      onSubmit={() => mutate({ body: { name } })}
      onCancel={onClose}
    >
      <TextField
        label={texts.create.name}
        help={texts.create.nameHelp}
        value={name}
        onChange={setName}
        maxLength={80}
        isRequired
        autoFocus
      />
    </DialogForm>
  );
}
