import { useState } from 'react';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { DialogForm } from '../ui/dialog-form.tsx';
import { OneTimeSecret } from '../ui/one-time-secret.tsx';
import { TextField } from '../ui/text-field.tsx';

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
      <OneTimeSecret what="token" secret={secret} onClose={onClose}>
        Copy the token now. It is not shown again.
      </OneTimeSecret>
    );
  }
  return (
    <DialogForm
      action="Create"
      fields={name}
      isPending={isPending}
      onSubmit={() => mutate({ body: { name } })}
      onCancel={onClose}
    >
      <TextField
        label="Name"
        help="The program that uses it, for example “Shop backend”."
        value={name}
        onChange={setName}
        maxLength={80}
        isRequired
        autoFocus
      />
    </DialogForm>
  );
}
