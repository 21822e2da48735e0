import { useState } from 'react';
import type { MemberRole } from '../../protocol/members.ts';
import { useWrite } from '../api/use-write.ts';
import { Dialog } from '../ui/dialog.tsx';
import { DialogForm } from '../ui/dialog-form.tsx';
import { Select } from '../ui/select.tsx';
import { ShownOnce } from '../ui/shown-once.tsx';
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
      <ShownOnce what="link" secret={link} onEnd={onEnd}>
        Send this link to {email}. It works once, for seven days, and is not shown again.
      </ShownOnce>
    );
  }
  return (
    <DialogForm
      action="Make a link"
      isPending={isPending}
      onSubmit={() => write({ body: { email, role } })}
      onCancel={onEnd}
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
    </DialogForm>
  );
}
