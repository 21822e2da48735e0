import { useState } from 'react';
import type { MemberRole } from '../../protocol/members.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { DialogForm } from '../ui/dialog-form.tsx';
import { OneTimeSecret } from '../ui/one-time-secret.tsx';
import { Select } from '../ui/select.tsx';
import { TextField } from '../ui/text-field.tsx';
import { ROLE_OPTIONS } from './roles.ts';

/** Creates an invitation link, which the user sends by any means. */
export function InviteForm({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<MemberRole>('host');
  const [link, setLink] = useState<string | null>(null);
  const { mutate, isPending } = useApiMutation('invite', {
    invalidates: ['listInvitations'],
    onSuccess: (invitation) => setLink(invitation.link),
  });
  if (link !== null) {
    return (
      <OneTimeSecret what="link" secret={link} onClose={onClose}>
        Send this link to {email}. It works once, expires after seven days and is not shown again.
      </OneTimeSecret>
    );
  }
  return (
    <DialogForm
      action="Create link"
      fields={{ email, role }}
      isPending={isPending}
      onSubmit={() => mutate({ body: { email, role } })}
      onCancel={onClose}
    >
      <TextField
        label="Email"
        help="For signing in. No email is sent."
        type="email"
        value={email}
        onChange={setEmail}
        isRequired
        autoFocus
      />
      <Select label="Role" value={role} options={ROLE_OPTIONS} onChange={setRole} />
    </DialogForm>
  );
}
