import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useWrite } from '../api/use-write.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
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
      <>
        <p>Copy it now: it is not shown again.</p>
        <div className="flex items-center gap-2">
          <code className="min-w-0 flex-1 rounded-lg bg-raised p-3 break-all">{secret}</code>
          <CopyButton what="token" text={secret} />
        </div>
        <Button look="primary" onPress={onEnd}>
          Done
        </Button>
      </>
    );
  }
  return (
    <Form
      className="grid gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        write({ body: { name } });
      }}
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
      <div className="flex justify-end gap-3">
        <Button onPress={onEnd}>Cancel</Button>
        <Button type="submit" look="primary" isPending={isPending}>
          Make it
        </Button>
      </div>
    </Form>
  );
}
