import { useState } from 'react';
import { useWrite } from '../api/use-write.ts';
import { Dialog } from '../ui/dialog.tsx';
import { DialogForm } from '../ui/dialog-form.tsx';
import { ShownOnce } from '../ui/shown-once.tsx';
import { TextField } from '../ui/text-field.tsx';

interface NewTokenDialogProps {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
}

/** Asks for a name, then shows the token: once. */
export function NewTokenDialog({ isOpen, onOpenChange }: NewTokenDialogProps) {
  return (
    <Dialog title="New API token" isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => <NewToken onEnd={close} />}
    </Dialog>
  );
}

function NewToken({ onEnd }: { readonly onEnd: () => void }) {
  const [name, setName] = useState('');
  const [secret, setSecret] = useState<string | null>(null);
  const { write, isPending } = useWrite('createApiToken', {
    stale: ['listApiTokens'],
    onDone: ({ token }) => setSecret(token),
  });
  if (secret !== null) {
    return (
      <ShownOnce what="token" secret={secret} onEnd={onEnd}>
        Copy it now: it is not shown again.
      </ShownOnce>
    );
  }
  return (
    <DialogForm
      action="Make it"
      isPending={isPending}
      onSubmit={() => write({ body: { name } })}
      onCancel={onEnd}
    >
      <TextField
        label="Name"
        help="So that you know later which program has it, such as “Shop backend”."
        value={name}
        onChange={setName}
        maxLength={80}
        isRequired
        autoFocus
      />
    </DialogForm>
  );
}
