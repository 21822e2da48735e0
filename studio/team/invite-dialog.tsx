import { useState } from 'react';
import { Form } from 'react-aria-components';
import type { MemberRole } from '../../protocol/members.ts';
import { useWrite } from '../api/use-write.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { ROLE_WORDS } from './roles.ts';

interface InviteDialogProps {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
}

/** Makes a link for somebody: whoever invites sends it, by what way they like. */
export function InviteDialog({ isOpen, onOpenChange }: InviteDialogProps) {
  return (
    <Dialog title="Invite somebody" isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => <Inviting onEnd={close} />}
    </Dialog>
  );
}

function Inviting({ onEnd }: { readonly onEnd: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<MemberRole>('host');
  const [link, setLink] = useState<string | null>(null);
  const { write, isPending } = useWrite('invite', {
    stale: ['listInvitations'],
    onDone: (invitation) => setLink(invitation.link),
  });
  if (link !== null) {
    return (
      <>
        <p>Send this link to {email}. It works once, for seven days, and is not shown again.</p>
        <div className="flex items-center gap-2">
          <code className="min-w-0 flex-1 rounded-lg bg-raised p-3 break-all">{link}</code>
          <CopyButton what="link" text={link} />
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
        write({ body: { email, role } });
      }}
    >
      <TextField
        label="E-mail"
        help="They sign in with it; nothing is sent there."
        type="email"
        value={email}
        onChange={setEmail}
        isRequired
        autoFocus
      />
      <Select label="Role" value={role} options={ROLE_WORDS} onChange={setRole} />
      <div className="flex justify-end gap-3">
        <Button onPress={onEnd}>Cancel</Button>
        <Button type="submit" look="primary" isPending={isPending}>
          Make a link
        </Button>
      </div>
    </Form>
  );
}
